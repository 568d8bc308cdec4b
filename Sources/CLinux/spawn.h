// Starts a process, with features that posix_spawn(3) lacks: the process can change its user, die with the daemon and
// start in a cgroup, and an error names the failed step.
//
// The child shares the daemon's memory until its execve(2) (CLONE_VM | CLONE_VFORK), as with posix_spawn(3). So the
// cost of a start does not depend on the size of the daemon, and the child reports errors through that memory. The
// child may therefore make only raw system calls: setresuid(2) of the C library would change all threads of the daemon.
//
// The child also shares the daemon's descriptors (CLONE_FILES), until it takes copies of the lowest ones. To copy all
// of them and to close each would cost more than the rest of a start while a thousand tasks run.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// sched.h declares clone(2) only with _GNU_SOURCE, which would make the types differ from those of Swift's Glibc.
int clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

// The steps of the child, in order; a failed start names its step.
enum linux_spawn_step {
  LINUX_SPAWN_CLONE = 1,  // the process itself
  LINUX_SPAWN_CGROUP,     // joining its cgroup
  LINUX_SPAWN_STREAMS,    // standard input, output and error
  LINUX_SPAWN_USER,       // groups and user
  LINUX_SPAWN_DIRECTORY,  // working directory
  LINUX_SPAWN_PROGRAM,    // the program
};

struct linux_spawn {
  const char *program;
  char *const *arguments, *const *environment;
  const char *directory;
  int input, output;    // become standard input, and standard output and error; both close-on-exec and above 2
  int last;             // the child takes copies of the descriptors up to this one, which input and output are among
  int cgroup;           // an open cgroup.procs, or -1
  struct rlimit files;  // RLIMIT_NOFILE
  int gives_way;        // whether to run at a lower priority of processor and disk
  int changes_user;     // whether to set the user and groups below
  const gid_t *groups;
  size_t group_count;
  gid_t group;
  uid_t user;
  pid_t parent;
  enum linux_spawn_step failed;  // out: 0, or the step that failed
  int error;                     // out: its errno
  int pidfd;                     // out
};

static inline int linux_spawn_fail(struct linux_spawn *spawn, enum linux_spawn_step step) {
  spawn->failed = step;
  spawn->error = errno;
  syscall(SYS_exit_group, 127);
  return 127;
}

static inline int linux_spawn_child(void *argument) {
  struct linux_spawn *spawn = argument;
  // Restore the default action of all signals first and the mask last, so that no handler of the daemon runs in the
  // child. execve(2) keeps ignored signals ignored, and programs expect that SIGPIPE ends them.
  // The system call is raw, because sigaction(3) refuses the two signals that the C library reserves, which may be
  // ignored too. All zero is SIG_DFL; the kernel's structure is not larger than this on any machine.
  const long standard[8] = {0};
  for (int signal = 1; signal < NSIG; signal++) syscall(SYS_rt_sigaction, signal, standard, NULL, (NSIG - 1) / 8);
  // A new session is also a new process group, without the daemon's terminal.
  setsid();

  if (spawn->cgroup >= 0 && write(spawn->cgroup, "0", 1) != 1) return linux_spawn_fail(spawn, LINUX_SPAWN_CGROUP);
  // Nothing of the descriptors may be changed before this. A kernel or a filter without the first call gets the second.
  if (syscall(SYS_close_range, spawn->last + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0 && syscall(SYS_unshare, CLONE_FILES) < 0)
    return linux_spawn_fail(spawn, LINUX_SPAWN_STREAMS);
  if (dup2(spawn->input, 0) < 0 || dup2(spawn->output, 1) < 0 || dup2(spawn->output, 2) < 0)
    return linux_spawn_fail(spawn, LINUX_SPAWN_STREAMS);
  syscall(SYS_close_range, 3, ~0U, 0);
  // The daemon has raised its own limit, which breaks programs that use select(2) (systemd.exec(5), LimitNOFILE=).
  syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &spawn->files, NULL);

  // The lowest priority that still gets a share of a busy processor, and of a busy disk (ioprio_set(2): best effort, 7).
  // A kernel without one of the calls runs the program all the same.
  if (spawn->gives_way) {
    syscall(SYS_setpriority, PRIO_PROCESS, 0, 10);
    syscall(SYS_ioprio_set, 1, 0, (2 << 13) | 7);
  }

  if (spawn->changes_user &&
      (syscall(SYS_setgroups, spawn->group_count, spawn->groups) < 0 ||
       syscall(SYS_setresgid, spawn->group, spawn->group, spawn->group) < 0 ||
       syscall(SYS_setresuid, spawn->user, spawn->user, spawn->user) < 0))
    return linux_spawn_fail(spawn, LINUX_SPAWN_USER);
  // Only now, because a change of user clears the setting (prctl(2)). If the daemon died before this, no signal comes.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != spawn->parent) syscall(SYS_exit_group, 127);

  if (chdir(spawn->directory) < 0) return linux_spawn_fail(spawn, LINUX_SPAWN_DIRECTORY);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(spawn->program, spawn->arguments, spawn->environment);
  return linux_spawn_fail(spawn, LINUX_SPAWN_PROGRAM);
}

// Starts the process and returns its id, with its pidfd in `spawn`; or -1, with the failed step and errno in `spawn`.
// The caller is suspended until the child runs its program. The child uses `stack` until then.
static inline pid_t linux_spawn_start(struct linux_spawn *spawn, void *stack, size_t stack_size) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  spawn->parent = getpid();
  spawn->failed = 0;
  spawn->pidfd = -1;
  // CLONE_PIDFD gets the pidfd without a lookup by process id, which could find another process.
  pid_t pid = clone(linux_spawn_child, (char *)stack + stack_size,
                    CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | SIGCHLD, spawn, &spawn->pidfd);
  if (pid < 0) {
    spawn->failed = LINUX_SPAWN_CLONE;
    spawn->error = errno;
  } else if (spawn->failed) {
    waitpid(pid, NULL, 0);
    close(spawn->pidfd);
    pid = -1;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return pid;
}

// Makes descriptor `to` a copy of another one that is closed by execve(2); or returns -1, with errno. The C library
// declares dup3(2) only with _GNU_SOURCE.
static inline int linux_copy_descriptor(int from, int to) { return (int)syscall(SYS_dup3, from, to, O_CLOEXEC); }

// Swift does not import variadic functions such as prctl(2).
static inline int linux_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }
static inline int linux_resign_as_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 0); }
static inline int linux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }
static inline int linux_pidfd_send_signal(int pidfd, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}
