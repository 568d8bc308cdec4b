// TOML 1.0 for Swift: toml++ (libtomlplusplus-dev, header only) behind one C function.
//
// TOMLKit wraps the same parser, but never frees a table or a string that it hands out, and hides where in the file
// a value stands. A daemon that is reloaded for years needs the first, a person who made a mistake the second.
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

// One value of a document. The pointers are valid during the visit only, and end without a NUL.
struct toml_item {
  enum toml_kind kind;
  uint32_t line;  // of the key, or of the value where it has none (an element of an array); from 1
  const char *key;
  size_t key_length;  // 0 for an element of an array and for the document itself
  const char *text;
  size_t text_length;
  int64_t integer;
  double number;
  bool boolean;
  size_t count;  // how many items of an array or a table follow, each with its own
};

struct toml_error {
  uint32_t line, column;  // from 1; 0 where the place is not known
  char description[256];
};

typedef void (*toml_visitor)(void *context, const struct toml_item *item);

// Parses the text and visits the document, a table, and then what is in it, depth first. False, with the error
// filled in, if the text is not TOML 1.0 in UTF-8, or is nested too deep; what was visited then is of no use.
bool toml_read(const char *text, size_t length, void *context, toml_visitor visit, struct toml_error *error);

#ifdef __cplusplus
}
#endif
