#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#if !__has_include(<toml++/toml.h>)
#error "cannot find toml++: install libtomlplusplus-dev"
#endif
#include <toml++/toml.h>

#include <algorithm>

#include "toml_read.h"

namespace {

struct visitor {
  void *context;
  toml_visitor visit;

  void item(const toml::node &node, std::string_view key, uint32_t line) const {
    toml_item item = {};
    item.line = line;
    item.key = key.data();
    item.key_length = key.size();
    if (auto string = node.as_string()) {
      item.kind = toml_string;
      item.text = string->get().data();
      item.text_length = string->get().size();
    } else if (auto integer = node.as_integer()) {
      item.kind = toml_integer;
      item.integer = integer->get();
    } else if (auto boolean = node.as_boolean()) {
      item.kind = toml_boolean;
      item.boolean = boolean->get();
    } else if (auto array = node.as_array()) {
      item.kind = toml_array;
      item.count = array->size();
    } else if (auto table = node.as_table()) {
      item.kind = toml_table;
      item.count = table->size();
    } else {
      item.kind = node.is_floating_point() ? toml_float : toml_time;
    }
    visit(context, &item);
    if (auto array = node.as_array()) {
      for (const auto &element : *array) this->item(element, {}, element.source().begin.line);
    } else if (auto table = node.as_table()) {
      // A dotted key or a table header has the line of its own first word.
      for (const auto &[key, value] : *table) this->item(value, key.str(), key.source().begin.line);
    }
  }
};

}  // namespace

bool toml_read(const char *text, size_t length, void *context, toml_visitor visit, toml_error *error) {
  auto result = toml::parse(std::string_view(text, length));
  if (!result) {
    auto position = result.error().source().begin;
    auto description = result.error().description();
    error->line = position.line;
    error->column = position.column;
    auto count = std::min(description.size(), sizeof error->description - 1);
    std::copy_n(description.data(), count, error->description);
    error->description[count] = 0;
    return false;
  }
  visitor{context, visit}.item(result.table(), {}, 1);
  return true;
}
