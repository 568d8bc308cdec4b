#include "wlr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wayland.h"

// The tables of the protocol, written by hand because Debian 12 has no package with its XML. They hold all requests and
// events of version 3, in the order of their numbers.

static const struct wl_interface handle_interface;

static const struct wl_interface *none[] = {NULL, NULL, NULL, NULL, NULL};
static const struct wl_interface *seat_type[] = {&wl_seat_interface};
static const struct wl_interface *surface_types[] = {&wl_surface_interface, NULL, NULL, NULL, NULL};
static const struct wl_interface *output_type[] = {&wl_output_interface};
static const struct wl_interface *handle_type[] = {&handle_interface};

static const struct wl_message handle_requests[] = {
  {"set_maximized", "", none},
  {"unset_maximized", "", none},
  {"set_minimized", "", none},
  {"unset_minimized", "", none},
  {"activate", "o", seat_type},
  {"close", "", none},
  {"set_rectangle", "oiiii", surface_types},
  {"destroy", "", none},
  {"set_fullscreen", "2?o", output_type},
  {"unset_fullscreen", "2", none},
};
enum { handle_destroy = 7 };

static const struct wl_message handle_events[] = {
  {"title", "s", none},
  {"app_id", "s", none},
  {"output_enter", "o", output_type},
  {"output_leave", "o", output_type},
  {"state", "a", none},
  {"done", "", none},
  {"closed", "", none},
  {"parent", "3?o", handle_type},
};
enum { handle_app_id = 1, handle_state = 4, handle_done = 5, handle_closed = 6 };
enum { state_minimized = 1, state_activated = 2 };

static const struct wl_interface handle_interface = {
  "zwlr_foreign_toplevel_handle_v1", 3, 10, handle_requests, 8, handle_events,
};

static const struct wl_message manager_requests[] = {{"stop", "", none}};
static const struct wl_message manager_events[] = {{"toplevel", "n", handle_type}, {"finished", "", none}};
enum { manager_toplevel = 0, manager_finished = 1 };

static const struct wl_interface manager_interface = {
  "zwlr_foreign_toplevel_manager_v1", 3, 1, manager_requests, 2, manager_events,
};

// After this many windows beyond the bound, the connection ends: each has cost a place in libwayland's table of objects.
enum { most_refused = 65536 };

// The facts of a window that come one by one and count from the event `done` on.
struct facts {
  char name[windows_name_bytes + 1];
  bool is_focused;
  bool is_minimised;
};

struct handle {
  struct wl_list link;
  struct wlr *owner;
  struct wl_proxy *proxy;
  bool is_known;
  struct facts next, now;
};

struct wlr {
  struct wl_display *display;
  struct wl_registry *registry;
  struct wl_proxy *manager;
  struct wl_callback *answer;
  struct wl_list handles;
  size_t count;
  size_t refused;
  enum windows_state state;
  bool has_changed;
  bool wants_to_write;
};

static void end(struct handle *handle) {
  struct wlr *wlr = handle->owner;
  wl_list_remove(&handle->link);
  wl_proxy_marshal(handle->proxy, handle_destroy);
  wl_proxy_destroy(handle->proxy);
  wlr->count--;
  if (handle->is_known) wlr->has_changed = true;
  free(handle);
}

static bool is_same(const struct facts *a, const struct facts *b) {
  return a->is_focused == b->is_focused && a->is_minimised == b->is_minimised && strcmp(a->name, b->name) == 0;
}

static void take_name(struct facts *facts, const char *name) {
  size_t length = name ? strlen(name) : 0;
  if (length > windows_name_bytes) length = 0;
  if (length > 0) memcpy(facts->name, name, length);
  facts->name[length] = 0;
}

static void take_state(struct facts *facts, const struct wl_array *states) {
  facts->is_focused = facts->is_minimised = false;
  const char *bytes = states->data;
  for (size_t offset = 0; offset + sizeof(uint32_t) <= states->size; offset += sizeof(uint32_t)) {
    uint32_t state;
    memcpy(&state, bytes + offset, sizeof state);
    if (state == state_activated) facts->is_focused = true;
    if (state == state_minimized) facts->is_minimised = true;
  }
}

static int on_handle(
  const void *context, void *target, uint32_t event, const struct wl_message *message, union wl_argument *arguments
) {
  (void)context, (void)message;
  struct handle *handle = wl_proxy_get_user_data(target);
  switch (event) {
  case handle_app_id: take_name(&handle->next, arguments[0].s); break;
  case handle_state: take_state(&handle->next, arguments[0].a); break;
  case handle_done:
    if (!handle->is_known || !is_same(&handle->now, &handle->next)) handle->owner->has_changed = true;
    handle->now = handle->next;
    handle->is_known = true;
    break;
  case handle_closed: end(handle); break;
  default: break;
  }
  return 0;
}

static void refuse(struct wlr *wlr, struct wl_proxy *proxy) {
  wl_proxy_marshal(proxy, handle_destroy);
  wl_proxy_destroy(proxy);
  if (++wlr->refused > most_refused) wlr->state = windows_lost;
}

static int on_manager(
  const void *context, void *target, uint32_t event, const struct wl_message *message, union wl_argument *arguments
) {
  (void)context, (void)message;
  struct wlr *wlr = wl_proxy_get_user_data(target);
  if (event == manager_finished) wlr->state = windows_lost;
  if (event != manager_toplevel) return 0;
  struct wl_proxy *proxy = (struct wl_proxy *)arguments[0].o;
  struct handle *handle = wlr->count < windows_most ? calloc(1, sizeof *handle) : NULL;
  if (!handle) {
    refuse(wlr, proxy);
    return 0;
  }
  handle->owner = wlr;
  handle->proxy = proxy;
  wl_list_insert(wlr->handles.prev, &handle->link);
  wlr->count++;
  wl_proxy_add_dispatcher(proxy, on_handle, NULL, handle);
  return 0;
}

static void on_global(
  void *context, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version
) {
  struct wlr *wlr = context;
  if (wlr->manager || strcmp(interface, manager_interface.name) != 0) return;
  uint32_t common = version < 3 ? version : 3;
  wlr->manager = wl_registry_bind(registry, name, &manager_interface, common);
  if (wlr->manager) wl_proxy_add_dispatcher(wlr->manager, on_manager, NULL, wlr);
}

static void on_global_remove(void *context, struct wl_registry *registry, uint32_t name) {
  (void)context, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_remove};

static void ask(struct wlr *wlr);

// The first answer comes after all globals, the second after all windows.
static void on_answer(void *context, struct wl_callback *callback, uint32_t data) {
  (void)data;
  struct wlr *wlr = context;
  bool is_first = wlr->registry != NULL;
  wl_callback_destroy(callback);
  wlr->answer = NULL;
  if (!is_first) {
    wlr->state = windows_watching;
    wlr->has_changed = true;
    return;
  }
  // Other globals come and go with each screen, and nobody here needs them.
  wl_registry_destroy(wlr->registry);
  wlr->registry = NULL;
  if (wlr->manager) ask(wlr);
  else wlr->state = windows_unsupported;
}

static const struct wl_callback_listener answer_listener = {on_answer};

static void ask(struct wlr *wlr) {
  wlr->answer = wl_display_sync(wlr->display);
  if (wlr->answer) wl_callback_add_listener(wlr->answer, &answer_listener, wlr);
  else wlr->state = windows_lost;
}

struct wlr *wlr_open(const char *path) {
  struct wlr *wlr = calloc(1, sizeof *wlr);
  if (!wlr) return NULL;
  wl_list_init(&wlr->handles);
  wlr->display = wayland_connect(path);
  if (!wlr->display) {
    int error = errno;
    free(wlr);
    errno = error;
    return NULL;
  }
  wlr->registry = wl_display_get_registry(wlr->display);
  if (!wlr->registry) {
    wlr_close(wlr);
    errno = ENOMEM;
    return NULL;
  }
  wl_registry_add_listener(wlr->registry, &registry_listener, wlr);
  ask(wlr);
  return wlr;
}

void wlr_close(struct wlr *wlr) {
  struct handle *handle, *next;
  wl_list_for_each_safe(handle, next, &wlr->handles, link) {
    wl_proxy_destroy(handle->proxy);
    free(handle);
  }
  if (wlr->answer) wl_callback_destroy(wlr->answer);
  if (wlr->manager) wl_proxy_destroy(wlr->manager);
  if (wlr->registry) wl_registry_destroy(wlr->registry);
  if (wlr->display) wl_display_disconnect(wlr->display);
  free(wlr);
}

enum windows_state wlr_turn(struct wlr *wlr, bool is_readable) {
  if (wlr->state == windows_lost) return windows_lost;
  if (!wayland_turn(wlr->display, is_readable, &wlr->wants_to_write)) wlr->state = windows_lost;
  return wlr->state;
}

int wlr_descriptor(const struct wlr *wlr) { return wl_display_get_fd(wlr->display); }

bool wlr_wants_to_write(const struct wlr *wlr) { return wlr->wants_to_write; }

bool wlr_take_change(struct wlr *wlr) {
  bool has_changed = wlr->has_changed;
  wlr->has_changed = false;
  return has_changed;
}

size_t wlr_windows(const struct wlr *wlr, struct windows_window *windows, size_t room) {
  size_t count = 0;
  struct handle *handle;
  wl_list_for_each(handle, &wlr->handles, link) {
    if (!handle->is_known || count == room) continue;
    windows[count++] = (struct windows_window){
      handle->now.name, "", "", handle->now.is_focused, handle->now.is_minimised, 0,
    };
  }
  return count;
}
