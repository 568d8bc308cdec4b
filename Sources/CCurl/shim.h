// libcurl for Swift, whose importer skips functions with variable arguments and macros with casts.
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

typedef size_t (*curl_bytes)(char *bytes, size_t size, size_t count, void *context);
typedef int (*curl_seek)(void *context, curl_off_t offset, int origin);

static inline CURLcode curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_bytes(CURL *handle, CURLoption option, curl_bytes value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_seek(CURL *handle, curl_seek value) {
  return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode curl_set_socket(CURL *handle, curl_sockopt_callback value) {
  return curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, value);
}
static inline CURLcode curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_get_socket(CURL *handle, curl_socket_t *value) {
  return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, value);
}
static inline CURLMcode curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// The result code of the transfer that a message of the multi interface reports.
static inline CURLcode curl_message_code(const CURLMsg *message) { return message->data.result; }

static const long curl_auth_basic_or_digest = CURLAUTH_BASIC | CURLAUTH_DIGEST;
static const size_t curl_write_pause = CURL_WRITEFUNC_PAUSE;
static const size_t curl_read_pause = CURL_READFUNC_PAUSE;
static const size_t curl_read_abort = CURL_READFUNC_ABORT;
static inline CURLcode curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
