// TOML 1.0 for Swift: toml++ (libtomlplusplus-dev, header only) behind one C function.
//
// TOMLKit wraps the same parser, but never frees a returned table or string, and does not tell the line of a value. A
// long-running daemon reloads its files often, so it must free them. Error messages need the line.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_kind {
  toml_string,
  toml_integer,
  toml_float,
  toml_boolean,
  toml_time,  // a date, a time of day, or both
  toml_array,
  toml_table,
} __attribute__((enum_extensibility(closed)));

// A value of a document. The pointers are valid only during the visit, and the texts have no NUL at the end.
struct toml_item {
  enum toml_kind kind;
  uint32_t line;  // of the key, or of the value if it is an element of an array; from 1
  const char *key;
  size_t key_length;  // 0 for an element of an array and for the document itself
  const char *text;
  size_t text_length;
  int64_t integer;
  double number;
  bool boolean;
  size_t count;  // the number of items of an array or table; they follow, each with its own items
};

struct toml_error {
  uint32_t line, column;  // from 1; 0 if the position is unknown
  char description[256];
};

typedef void (*toml_visitor)(void *context, const struct toml_item *item);

// Parses the text and visits the document, which is a table, and then its contents, depth first. Returns false and
// fills in the error if the text is not TOML 1.0 in UTF-8 or is nested too deep. The caller then discards the items.
bool toml_read(const char *text, size_t length, void *context, toml_visitor visit, struct toml_error *error);

#ifdef __cplusplus
}
#endif
