#include "toml_read.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#if !__has_include(<toml++/toml.h>)
#error "cannot find toml++: install libtomlplusplus-dev"
#endif

// For some malformed documents, such as "a = [ } ]", toml++ fails an assertion; without assertions its behaviour is
// undefined. A typing mistake must not end the daemon, so a failed assertion becomes an error of the document. Within
// the parser set_error() is its own function, which knows the position; elsewhere it is this one, which does not.
struct toml_assertion {};
template <typename Reason>
[[noreturn]] static inline void set_error(const Reason &) {
  throw toml_assertion();
}
#undef NDEBUG
#define TOML_ASSERT(expression) \
  do {                          \
    if (!(expression)) set_error(std::string_view("unexpected character")); \
  } while (false)
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

// toml++ builds, walks and frees a document by recursion without a bound, one level for each dot of a key.
constexpr auto most_dots = 2000;
constexpr auto deepest = 64;

struct visitor {
  void *context;
  toml_visitor visit;

  void item(const toml::node &node, std::string_view key, uint32_t line, int depth) const {
    if (depth > deepest) throw std::length_error("tables and arrays are nested more than 64 deep");
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
    } else if (auto number = node.as_floating_point()) {
      item.kind = toml_float;
      item.number = number->get();
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
      item.kind = toml_time;
    }
    visit(context, &item);
    if (auto array = node.as_array()) {
      for (const auto &element : *array) this->item(element, {}, element.source().begin.line, depth + 1);
    } else if (auto table = node.as_table()) {
      // A dotted key or a table header has the line of its first part.
      for (const auto &[key, value] : *table) this->item(value, key.str(), key.source().begin.line, depth + 1);
    }
  }
};

}  // namespace

static void fill(toml_error *error, std::string_view description, toml::source_position position) {
  error->line = position.line;
  error->column = position.column;
  auto count = std::min(description.size(), sizeof error->description - 1);
  std::copy_n(description.data(), count, error->description);
  error->description[count] = 0;
}

bool toml_read(const char *text, size_t length, void *context, toml_visitor visit, toml_error *error) {
  try {
    if (std::count(text, text + length, '.') > most_dots) throw std::length_error("there are more than 2000 dots");
    auto document = toml::parse(std::string_view(text, length));
    visitor{context, visit}.item(document, {}, 1, 0);
    return true;
  } catch (const toml::parse_error &reason) {
    fill(error, reason.description(), reason.source().begin);
  } catch (const toml_assertion &) {
    fill(error, "unexpected character", {});
  } catch (const std::exception &reason) {
    fill(error, reason.what(), {});
  }
  return false;
}
