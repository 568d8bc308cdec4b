#include "x11.h"

#include <stdlib.h>
#include <string.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// The properties that are read; those of a window have a bit each in its sets.
enum subject { client_list, active_window, window_class, window_state, gtk_id, window_pid, subject_count };

static const char *const property_names[subject_count] = {
  "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "WM_CLASS", "_NET_WM_STATE", "_GTK_APPLICATION_ID", "_NET_WM_PID",
};
// The most of each that is requested, in units of four bytes; a little more than is kept of names, to detect that they are
// too long.
static const uint32_t most_of[subject_count] = {windows_most, 1, 130, 64, 65, 1};
static const unsigned all_of_window = 1u << window_class | 1u << window_state | 1u << gtk_id | 1u << window_pid;

// The most requests without an answer. Together they fit into a socket's buffer, so a request never blocks.
enum { most_questions = 256 };
// The most events of one turn; the descriptor is still readable after it.
enum { most_events = 4096 };

struct window {
  xcb_window_t id;
  unsigned needs;  // the properties to ask for
  unsigned asked;  // the properties without an answer yet
  unsigned known;  // the properties that have had one
  bool is_selected;
  bool is_minimised;
  uint32_t pid;  // 0 if it is not known
  char names[3][windows_name_bytes + 1];  // GTK id, class, instance
};

struct question {
  struct question *next;
  unsigned sequence;
  xcb_window_t window;
  enum subject subject;
};

struct x11 {
  xcb_connection_t *connection;
  xcb_window_t root;
  xcb_atom_t atoms[subject_count];
  xcb_atom_t hidden;
  struct window *windows;  // in the order of their ids
  size_t count;
  xcb_window_t focused;
  unsigned needs, asked, known;  // of the root window
  struct question *first, **last;
  size_t questions;
  bool has_changed;
};

static int by_id(const void *left, const void *right) {
  xcb_window_t a = *(const xcb_window_t *)left, b = *(const xcb_window_t *)right;
  return (a > b) - (a < b);
}

static struct window *find(struct x11 *x11, xcb_window_t id) {
  if (x11->count == 0) return NULL;
  return bsearch(&id, x11->windows, x11->count, sizeof *x11->windows, by_id);
}

// MARK: Questions

static bool ask(struct x11 *x11, xcb_window_t window, enum subject subject) {
  if (x11->questions >= most_questions) return false;
  struct question *question = malloc(sizeof *question);
  if (!question) return false;
  xcb_get_property_cookie_t cookie = xcb_get_property(
    x11->connection, 0, window, x11->atoms[subject], XCB_ATOM_ANY, 0, most_of[subject]);
  *question = (struct question){NULL, cookie.sequence, window, subject};
  *x11->last = question;
  x11->last = &question->next;
  x11->questions++;
  return true;
}

static void ask_needed(struct x11 *x11, xcb_window_t window, unsigned *needs, unsigned *asked) {
  for (enum subject subject = 0; subject < subject_count; subject++) {
    unsigned bit = 1u << subject;
    // Requests a property again after the answer if it has changed before the answer.
    if (!(*needs & bit) || *asked & bit) continue;
    if (!ask(x11, window, subject)) return;
    *needs &= ~bit;
    *asked |= bit;
  }
}

static void ask_all(struct x11 *x11) {
  ask_needed(x11, x11->root, &x11->needs, &x11->asked);
  for (size_t i = 0; i < x11->count && x11->questions < most_questions; i++) {
    struct window *window = &x11->windows[i];
    if (!window->is_selected) {
      uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
      xcb_change_window_attributes(x11->connection, window->id, XCB_CW_EVENT_MASK, &events);
      window->is_selected = true;
    }
    ask_needed(x11, window->id, &window->needs, &window->asked);
  }
}

// MARK: Answers

static void take_list(struct x11 *x11, const xcb_window_t *ids, size_t count) {
  if (count > windows_most) count = windows_most;
  xcb_window_t *sorted = calloc(count + 1, sizeof *sorted);
  struct window *windows = calloc(count + 1, sizeof *windows);
  if (!sorted || !windows) {
    free(sorted);
    free(windows);
    return;
  }
  if (count > 0) memcpy(sorted, ids, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_id);
  size_t kept = 0, known = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && windows[kept - 1].id == sorted[i]) continue;
    struct window *old = find(x11, sorted[i]);
    if (old) known++;
    windows[kept++] = old ? *old : (struct window){.id = sorted[i], .needs = all_of_window};
  }
  if (known != x11->count || known != kept) x11->has_changed = true;
  free(sorted);
  free(x11->windows);
  x11->windows = windows;
  x11->count = kept;
}

static void take_name(struct x11 *x11, char *name, const char *text, size_t length) {
  if (length > windows_name_bytes) length = 0;
  if (strlen(name) == length && memcmp(name, text, length) == 0) return;
  if (length > 0) memcpy(name, text, length);
  name[length] = 0;
  x11->has_changed = true;
}

// The text up to a NUL or the end.
static size_t part(const char *text, size_t length) {
  const char *end = length > 0 ? memchr(text, 0, length) : NULL;
  return end ? (size_t)(end - text) : length;
}

static void take_class(struct x11 *x11, struct window *window, const char *text, size_t length) {
  size_t instance = part(text, length);
  size_t start = instance < length ? instance + 1 : length;
  take_name(x11, window->names[1], text + start, part(text + start, length - start));
  take_name(x11, window->names[2], text, instance);
}

static void take_window_state(struct x11 *x11, struct window *window, const xcb_atom_t *states, size_t count) {
  bool is_minimised = false;
  for (size_t i = 0; i < count; i++) is_minimised |= states[i] == x11->hidden;
  if (window->is_minimised == is_minimised) return;
  window->is_minimised = is_minimised;
  x11->has_changed = true;
}

static void take_pid(struct x11 *x11, struct window *window, uint32_t pid) {
  if (window->pid == pid) return;
  window->pid = pid;
  x11->has_changed = true;
}

static void take_root(struct x11 *x11, enum subject subject, const uint32_t *values, size_t count) {
  x11->asked &= ~(1u << subject);
  x11->known |= 1u << subject;
  if (subject == client_list) {
    take_list(x11, values, count);
    return;
  }
  xcb_window_t focused = count > 0 ? values[0] : XCB_NONE;
  if (focused == x11->focused) return;
  x11->focused = focused;
  x11->has_changed = true;
}

// A window that has gone in the meantime has no property, which is expected.
static void take(struct x11 *x11, const struct question *question, const xcb_get_property_reply_t *reply) {
  size_t length = reply ? (size_t)xcb_get_property_value_length(reply) : 0;
  const void *value = length > 0 ? xcb_get_property_value(reply) : "";
  size_t count = reply && reply->format == 32 ? length / sizeof(uint32_t) : 0;
  if (question->window == x11->root) {
    take_root(x11, question->subject, value, count);
    return;
  }
  struct window *window = find(x11, question->window);
  if (!window) return;
  window->asked &= ~(1u << question->subject);
  if (!(window->known & 1u << question->subject)) x11->has_changed = true;
  window->known |= 1u << question->subject;
  size_t bytes = reply && reply->format == 8 ? length : 0;
  switch (question->subject) {
  case window_class: take_class(x11, window, value, bytes); break;
  case gtk_id: take_name(x11, window->names[0], value, part(value, bytes)); break;
  case window_state: take_window_state(x11, window, value, count); break;
  case window_pid: take_pid(x11, window, count > 0 ? *(const uint32_t *)value : 0); break;
  default: break;
  }
}

static bool take_answers(struct x11 *x11) {
  bool has_taken = false;
  while (x11->first) {
    void *reply = NULL;
    xcb_generic_error_t *error = NULL;
    struct question *question = x11->first;
    if (!xcb_poll_for_reply(x11->connection, question->sequence, &reply, &error)) break;
    x11->first = question->next;
    if (!x11->first) x11->last = &x11->first;
    x11->questions--;
    take(x11, question, reply);
    free(question);
    free(reply);
    free(error);
    has_taken = true;
  }
  return has_taken;
}

// MARK: Events

static void take_event(struct x11 *x11, const xcb_generic_event_t *event) {
  if ((event->response_type & 0x7f) != XCB_PROPERTY_NOTIFY) return;
  const xcb_property_notify_event_t *notice = (const void *)event;
  struct window *window = notice->window == x11->root ? NULL : find(x11, notice->window);
  if (notice->window != x11->root && !window) return;
  for (enum subject subject = 0; subject < subject_count; subject++) {
    if (notice->atom != x11->atoms[subject]) continue;
    bool is_of_root = subject == client_list || subject == active_window;
    if (window && !is_of_root) window->needs |= 1u << subject;
    if (!window && is_of_root) x11->needs |= 1u << subject;
  }
}

static bool take_events(struct x11 *x11, bool may_read) {
  bool has_taken = false;
  for (int i = 0; i < most_events; i++) {
    xcb_generic_event_t *event =
      may_read ? xcb_poll_for_event(x11->connection) : xcb_poll_for_queued_event(x11->connection);
    if (!event) break;
    take_event(x11, event);
    free(event);
    has_taken = true;
  }
  return has_taken;
}

enum windows_state x11_turn(struct x11 *x11) {
  take_events(x11, true);
  // An answer may add events to xcb's queue, where the descriptor does not report them.
  bool goes_on = true;
  while (goes_on) {
    ask_all(x11);
    xcb_flush(x11->connection);
    goes_on = take_answers(x11);
    if (take_events(x11, false)) goes_on = true;
  }
  if (xcb_connection_has_error(x11->connection)) return windows_lost;
  bool is_complete = x11->known == (1u << client_list | 1u << active_window) && x11->questions == 0;
  return is_complete ? windows_watching : windows_asking;
}

// MARK: Connection

static xcb_atom_t atom(xcb_connection_t *connection, const char *name) {
  xcb_intern_atom_cookie_t cookie = xcb_intern_atom(connection, 0, (uint16_t)strlen(name), name);
  xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(connection, cookie, NULL);
  xcb_atom_t atom = reply ? reply->atom : XCB_ATOM_NONE;
  free(reply);
  return atom;
}

struct x11 *x11_open(const char *display) {
  struct x11 *x11 = calloc(1, sizeof *x11);
  if (!x11) return NULL;
  x11->last = &x11->first;
  int number = 0;
  x11->connection = xcb_connect(display, &number);
  xcb_screen_iterator_t screens = {0};
  if (!xcb_connection_has_error(x11->connection)) screens = xcb_setup_roots_iterator(xcb_get_setup(x11->connection));
  while (number-- > 0 && screens.rem > 0) xcb_screen_next(&screens);
  if (screens.rem <= 0) {
    x11_close(x11);
    return NULL;
  }
  x11->root = screens.data->root;
  for (enum subject subject = 0; subject < subject_count; subject++) {
    x11->atoms[subject] = atom(x11->connection, property_names[subject]);
  }
  x11->hidden = atom(x11->connection, "_NET_WM_STATE_HIDDEN");
  uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
  xcb_change_window_attributes(x11->connection, x11->root, XCB_CW_EVENT_MASK, &events);
  x11->needs = 1u << client_list | 1u << active_window;
  return x11;
}

void x11_close(struct x11 *x11) {
  while (x11->first) {
    struct question *next = x11->first->next;
    free(x11->first);
    x11->first = next;
  }
  xcb_disconnect(x11->connection);
  free(x11->windows);
  free(x11);
}

int x11_descriptor(const struct x11 *x11) { return xcb_get_file_descriptor(x11->connection); }

bool x11_take_change(struct x11 *x11) {
  bool has_changed = x11->has_changed;
  x11->has_changed = false;
  return has_changed;
}

size_t x11_windows(const struct x11 *x11, struct windows_window *windows, size_t room) {
  size_t count = 0;
  for (size_t i = 0; i < x11->count && count < room; i++) {
    const struct window *window = &x11->windows[i];
    windows[count++] = (struct windows_window){
      window->names[0], window->names[1], window->names[2], window->id == x11->focused, window->is_minimised,
      window->pid,
    };
  }
  return count;
}
