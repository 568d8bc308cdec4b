#include "idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wayland.h"

// The tables of the protocol, written by hand because Debian 12 has no package with its XML.

static const struct wl_interface notification_interface;

static const struct wl_interface *none[] = {NULL};
static const struct wl_interface *get_types[] = {&notification_interface, NULL, &wl_seat_interface};

static const struct wl_message notification_requests[] = {{"destroy", "", none}};
static const struct wl_message notification_events[] = {{"idled", "", none}, {"resumed", "", none}};
enum { notification_idled = 0, notification_resumed = 1 };

static const struct wl_interface notification_interface = {
  "ext_idle_notification_v1", 1, 1, notification_requests, 2, notification_events,
};

static const struct wl_message notifier_requests[] = {{"destroy", "", none}, {"get_idle_notification", "nuo", get_types}};
enum { notifier_get = 1 };

static const struct wl_interface notifier_interface = {"ext_idle_notifier_v1", 1, 2, notifier_requests, 0, NULL};

struct idle {
  struct wl_display *display;
  struct wl_registry *registry;
  struct wl_callback *answer;
  struct wl_proxy *notifier;
  struct wl_seat *seat;
  struct wl_proxy *notification;
  uint32_t after;
  enum windows_state state;
  bool is_idle;
  bool wants_to_write;
};

static int on_notification(
  const void *context, void *target, uint32_t event, const struct wl_message *message, union wl_argument *arguments
) {
  (void)context, (void)message, (void)arguments;
  struct idle *idle = wl_proxy_get_user_data(target);
  if (event == notification_idled) idle->is_idle = true;
  if (event == notification_resumed) idle->is_idle = false;
  return 0;
}

static void on_global(
  void *context, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version
) {
  (void)version;
  struct idle *idle = context;
  if (!idle->notifier && strcmp(interface, notifier_interface.name) == 0)
    idle->notifier = wl_registry_bind(registry, name, &notifier_interface, 1);
  // The first seat; a second seat is rare, and its user counts as idle with the first.
  if (!idle->seat && strcmp(interface, wl_seat_interface.name) == 0)
    idle->seat = wl_registry_bind(registry, name, &wl_seat_interface, 1);
}

static void on_global_remove(void *context, struct wl_registry *registry, uint32_t name) {
  (void)context, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_remove};

static void on_capabilities(void *context, struct wl_seat *seat, uint32_t capabilities) {
  (void)context, (void)seat, (void)capabilities;
}

static void on_name(void *context, struct wl_seat *seat, const char *name) { (void)context, (void)seat, (void)name; }

static const struct wl_seat_listener seat_listener = {on_capabilities, on_name};

// The answer comes after all globals.
static void on_answer(void *context, struct wl_callback *callback, uint32_t data) {
  (void)data;
  struct idle *idle = context;
  wl_callback_destroy(callback);
  idle->answer = NULL;
  wl_registry_destroy(idle->registry);
  idle->registry = NULL;
  idle->state = windows_unsupported;
  if (!idle->notifier || !idle->seat) return;
  wl_seat_add_listener(idle->seat, &seat_listener, idle);
  idle->notification = wl_proxy_marshal_constructor(
    idle->notifier, notifier_get, &notification_interface, NULL, idle->after, idle->seat);
  if (!idle->notification) return;
  wl_proxy_add_dispatcher(idle->notification, on_notification, NULL, idle);
  idle->state = windows_watching;
}

static const struct wl_callback_listener answer_listener = {on_answer};

struct idle *idle_open(const char *path, uint32_t after) {
  struct idle *idle = calloc(1, sizeof *idle);
  if (!idle) return NULL;
  idle->after = after;
  idle->display = wayland_connect(path);
  idle->registry = idle->display ? wl_display_get_registry(idle->display) : NULL;
  idle->answer = idle->registry ? wl_display_sync(idle->display) : NULL;
  if (!idle->answer) {
    idle_close(idle);
    return NULL;
  }
  wl_registry_add_listener(idle->registry, &registry_listener, idle);
  wl_callback_add_listener(idle->answer, &answer_listener, idle);
  return idle;
}

void idle_close(struct idle *idle) {
  if (idle->notification) wl_proxy_destroy(idle->notification);
  if (idle->notifier) wl_proxy_destroy(idle->notifier);
  if (idle->seat) wl_seat_destroy(idle->seat);
  if (idle->answer) wl_callback_destroy(idle->answer);
  if (idle->registry) wl_registry_destroy(idle->registry);
  if (idle->display) wl_display_disconnect(idle->display);
  free(idle);
}

enum windows_state idle_turn(struct idle *idle, bool is_readable) {
  if (idle->state == windows_lost) return windows_lost;
  if (!wayland_turn(idle->display, is_readable, &idle->wants_to_write)) idle->state = windows_lost;
  return idle->state;
}

int idle_descriptor(const struct idle *idle) { return wl_display_get_fd(idle->display); }

bool idle_wants_to_write(const struct idle *idle) { return idle->wants_to_write; }

bool idle_is_idle(const struct idle *idle) { return idle->is_idle; }
