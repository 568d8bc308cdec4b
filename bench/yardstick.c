/* The limit of the machine: `yardstick SOCKET TASKS PROGRAM [ARGUMENT…]`
 *
 * The program has a heap of due instants, one timerfd on CLOCK_BOOTTIME, epoll, posix_spawn, and an echo on a Unix
 * socket. It has no state, no policy, no log and no limit on running tasks: only the work that is needed to start
 * processes by time and answer on a socket. `make bench` divides by its figures. In an argument "%04d" is replaced by
 * the number of the task. A task never runs twice at once.
 *
 * A message ends with a NUL byte, and the program sends it back unchanged. "due COUNT AT EVERY" also makes the first
 * COUNT tasks due at AT (microseconds, CLOCK_REALTIME), and again EVERY microseconds after each start, or only once if
 * EVERY is 0. READY=1 goes to $NOTIFY_SOCKET once the socket listens.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct task {
  int64_t due;   /* microseconds, CLOCK_BOOTTIME */
  int64_t every; /* 0: once */
  pid_t process; /* 0: not running */
  char **arguments;
};
struct peer {
  int descriptor;
  size_t held;
  char bytes[1 << 16];
};

extern char **environ;
static struct task *tasks;
static int *heap, waiting, count; /* heap: task numbers by due instant; waiting: its size */
static int64_t armed;             /* the timer's setting, so that an echo need not set it again */
static posix_spawn_file_actions_t actions;
static posix_spawnattr_t attributes;

static int64_t microseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void push(int number) {
  int at = waiting++;
  for (; at > 0 && tasks[heap[(at - 1) / 2]].due > tasks[number].due; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
  heap[at] = number;
}

static int pop(void) {
  int first = heap[0], last = heap[--waiting], at = 0;
  for (int child; (child = 2 * at + 1) < waiting; at = child) {
    if (child + 1 < waiting && tasks[heap[child + 1]].due < tasks[heap[child]].due) child++;
    if (tasks[heap[child]].due >= tasks[last].due) break;
    heap[at] = heap[child];
  }
  heap[at] = last;
  return first;
}

static void start_what_is_due(int timer) {
  int64_t now = microseconds(CLOCK_BOOTTIME);
  while (waiting > 0 && tasks[heap[0]].due <= now) {
    struct task *task = &tasks[pop()];
    task->due = microseconds(CLOCK_BOOTTIME) + task->every;
    int error = posix_spawn(&task->process, task->arguments[0], &actions, &attributes, task->arguments, environ);
    if (error) errx(1, "cannot start %s: %s", task->arguments[0], strerror(error));
  }
  int64_t next = waiting > 0 ? tasks[heap[0]].due : 0; /* 0 disarms */
  if (next == armed) return;
  armed = next;
  struct itimerspec when = {.it_value = {.tv_sec = next / 1000000, .tv_nsec = next % 1000000 * 1000}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void reap(int signals) {
  struct signalfd_siginfo infos[64]; /* one read for all: SIGCHLD does not queue */
  if (read(signals, infos, sizeof infos) < 0) err(1, "cannot read a signal");
  for (pid_t process; (process = waitpid(-1, NULL, WNOHANG)) > 0;) {
    int number = 0;
    while (number < count && tasks[number].process != process) number++;
    if (number == count) continue;
    tasks[number].process = 0;
    if (tasks[number].every > 0) push(number);
  }
}

static void make_due(const char *message) {
  int first;
  long long at, every;
  if (sscanf(message, "due %d %lld %lld", &first, &at, &every) != 3) return;
  int64_t boot = microseconds(CLOCK_BOOTTIME) - microseconds(CLOCK_REALTIME);
  waiting = 0;
  for (int i = 0; i < count; i++) {
    tasks[i].every = i < first ? every : 0;
    tasks[i].due = at + boot;
    if (i < first && tasks[i].process == 0) push(i);
  }
}

static void answer(struct peer *peer) {
  ssize_t n = recv(peer->descriptor, peer->bytes + peer->held, sizeof peer->bytes - peer->held, 0);
  if (n <= 0) {
    close(peer->descriptor);
    free(peer);
    return;
  }
  peer->held += (size_t)n;
  if (peer->bytes[peer->held - 1] != 0) return; /* one message in flight, so its NUL is the last byte */
  if (strncmp(peer->bytes, "due ", 4) == 0) make_due(peer->bytes);
  send(peer->descriptor, peer->bytes, peer->held, MSG_NOSIGNAL);
  peer->held = 0;
}

static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) errx(1, "cannot use %s: the path is too long for a socket", path);
  strcpy(address.sun_path, path);
  return address;
}

static int listening(const char *path) {
  struct sockaddr_un address = address_of(path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  unlink(path);
  if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ||
      listen(descriptor, 128) < 0)
    err(1, "cannot listen on %s", path);
  return descriptor;
}

static void notify(const char *state) {
  const char *path = getenv("NOTIFY_SOCKET");
  if (!path) return;
  struct sockaddr_un address = address_of(path);
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof address) < 0)
    err(1, "cannot notify %s", path);
  close(descriptor);
}

static char **arguments_of(int number, int argc, char **argv) {
  char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
  for (int i = 0; i < argc; i++) {
    char *mark = strstr(argv[i], "%04d");
    arguments[i] = argv[i]; /* tasks share arguments without their number */
    if (mark && asprintf(&arguments[i], "%.*s%04d%s", (int)(mark - argv[i]), argv[i], number, mark + 4) < 0)
      err(1, "cannot write an argument");
  }
  return arguments;
}

static void watch(int queue, void *source, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
  if (epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event) < 0) err(1, "cannot watch a descriptor");
}

int main(int argc, char **argv) {
  if (argc < 4) errx(64, "usage: yardstick SOCKET TASKS PROGRAM [ARGUMENT...]");
  count = atoi(argv[2]);
  tasks = calloc((size_t)count, sizeof *tasks);
  heap = calloc((size_t)count, sizeof *heap);
  for (int i = 0; i < count; i++) tasks[i].arguments = arguments_of(i, argc - 3, argv + 3);

  sigset_t children, none;
  sigemptyset(&none);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);

  int queue = epoll_create1(EPOLL_CLOEXEC), server = listening(argv[1]);
  int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  int signals = signalfd(-1, &children, SFD_CLOEXEC);
  watch(queue, &server, server);
  watch(queue, &timer, timer);
  watch(queue, &signals, signals);
  notify("READY=1");
  for (;;) {
    struct epoll_event events[64];
    int ready = epoll_wait(queue, events, 64, -1);
    for (int i = 0; i < ready; i++) {
      void *source = events[i].data.ptr;
      if (source == &signals) {
        reap(signals);
      } else if (source == &server) {
        struct peer *peer = malloc(sizeof *peer);
        if (!peer || (peer->descriptor = accept4(server, NULL, NULL, SOCK_CLOEXEC)) < 0) err(1, "cannot accept");
        peer->held = 0;
        watch(queue, peer, peer->descriptor);
      } else if (source != &timer) {
        answer(source);
      }
    }
    start_what_is_due(timer);
  }
}
