// Starts a process, with features that posix_spawn(3) lacks: the process can change its user, die with the daemon and
// start in a cgroup, and an error names the failed step.
//
// The child shares the daemon's memory until its execve(2) (CLONE_VM | CLONE_VFORK), as with posix_spawn(3). So the
// cost of a start does not depend on the size of the daemon, and the child reports errors through that memory. The
// child may therefore make only raw system calls: setresuid(2) of the C library would change all threads of the daemon.
//
// The calling thread waits for the child, whose directory and program are somebody else's: a file system may never
// answer, and an owner with a lease on his program (F_SETLEASE, fcntl(2)) delays it. So no thread that has other work may
// call, and it must outlive the child, which dies with it (PR_SET_PDEATHSIG).
//
// If it may, the child also shares the daemon's descriptors (CLONE_FILES), until it takes copies of the lowest ones. To
// copy all of them and to close each takes longer the more tasks run.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

// sched.h declares clone(2) only with _GNU_SOURCE, which would make the types differ from those of Swift's Glibc.
int clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

// The steps of the child, in order; a failed start names its step.
enum linux_spawn_step {
  LINUX_SPAWN_CLONE = 1,  // the process itself
  LINUX_SPAWN_CGROUP,     // joining its cgroup
  LINUX_SPAWN_TABLE,      // descriptors of its own
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
  int shares;           // whether the child shares the daemon's descriptors at first
  int last;             // then it takes copies of those up to this one, which input and output are among
  int cgroup;           // an open cgroup.procs, or -1
  struct rlimit files;  // RLIMIT_NOFILE
  rlim_t processes;     // the most of RLIMIT_NPROC; RLIM_INFINITY to leave it
  int gives_way;        // whether to run at a lower priority of processor and disk
  int changes_user;     // whether to set the user and groups below
  const gid_t *groups;
  size_t group_count;
  gid_t group;
  uid_t user;
  pid_t parent;
  enum linux_spawn_step failed;  // out: 0, or the step that failed
  int error;                     // out: its errno
  int pidfd;                     // out, also while the child starts and after a failure; the caller closes it
  pid_t pid;                     // out, also while the child starts
};

static inline int linux_spawn_fail(struct linux_spawn *spawn, enum linux_spawn_step step) {
  spawn->failed = step;
  spawn->error = errno;
  syscall(SYS_exit_group, 127);
  return 127;
}

static inline int linux_spawn_child(void *argument) {
  struct linux_spawn *spawn = argument;
  __atomic_store_n(&spawn->pid, getpid(), __ATOMIC_RELEASE);
  // Restore the default action of all signals first and the mask last, so that no handler of the daemon runs in the
  // child. execve(2) keeps ignored signals ignored, and programs expect that SIGPIPE ends them.
  // The system call is raw, because sigaction(3) refuses the two signals that the C library reserves, which may be
  // ignored too. All zero is SIG_DFL; the kernel's structure is not larger than this on any machine.
  const long standard[8] = {0};
  for (int signal = 1; signal < NSIG; signal++) syscall(SYS_rt_sigaction, signal, standard, NULL, (NSIG - 1) / 8);
  // A new session is also a new process group, without the daemon's terminal.
  setsid();

  if (spawn->cgroup >= 0 && write(spawn->cgroup, "0", 1) != 1) return linux_spawn_fail(spawn, LINUX_SPAWN_CGROUP);
  // No descriptor may be changed before this.
  if (spawn->shares && syscall(SYS_close_range, spawn->last + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0)
    return linux_spawn_fail(spawn, LINUX_SPAWN_TABLE);
  if (dup2(spawn->input, 0) < 0 || dup2(spawn->output, 1) < 0 || dup2(spawn->output, 2) < 0)
    return linux_spawn_fail(spawn, LINUX_SPAWN_STREAMS);
  syscall(SYS_close_range, 3, ~0U, 0);
  // The daemon has raised its own limit, which breaks programs that use select(2) (systemd.exec(5), LimitNOFILE=).
  syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &spawn->files, NULL);

  struct rlimit processes;
  if (spawn->processes != RLIM_INFINITY && !syscall(SYS_prlimit64, 0, RLIMIT_NPROC, NULL, &processes)) {
    if (processes.rlim_cur > spawn->processes) processes.rlim_cur = spawn->processes;
    if (processes.rlim_max > spawn->processes) processes.rlim_max = spawn->processes;
    syscall(SYS_prlimit64, 0, RLIMIT_NPROC, &processes, NULL);
  }

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
// The caller is suspended until the child runs its program. The child uses `stack` until then. A start that failed at
// LINUX_SPAWN_TABLE works without `shares`: a filter of system calls, such as a container's, refuses that copy.
static inline pid_t linux_spawn_start(struct linux_spawn *spawn, void *stack, size_t stack_size) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  spawn->parent = getpid();
  spawn->failed = 0;
  spawn->pidfd = -1;
  // CLONE_PIDFD gets the pidfd without a lookup by process id, which could find another process.
  int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | (spawn->shares ? CLONE_FILES : 0);
  pid_t pid = clone(linux_spawn_child, (char *)stack + stack_size, flags, spawn, &spawn->pidfd);
  if (pid < 0) {
    spawn->failed = LINUX_SPAWN_CLONE;
    spawn->error = errno;
  } else if (spawn->failed) {
    waitpid(pid, NULL, 0);
    pid = -1;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return pid;
}

// The id of a child that another thread starts; 0 before there is one.
static inline pid_t linux_spawn_pid(struct linux_spawn *spawn) { return __atomic_load_n(&spawn->pid, __ATOMIC_ACQUIRE); }

// Kills a child that another thread starts, before or after its program runs; the pidfd must not be closed yet.
static inline void linux_spawn_kill(struct linux_spawn *spawn) {
  int pidfd = __atomic_load_n(&spawn->pidfd, __ATOMIC_ACQUIRE);
  if (pidfd >= 0) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

// Whether close_range(2) with CLOSE_RANGE_UNSHARE copies a few descriptors without harm. Kernels before 6.11 that miss
// a fix of 2024 (CVE-2024-45025) leave marks in the copy: from its 65th descriptor on a task would get numbers above
// its limit, while the daemon has a thousand open.
static inline int linux_copies_few_descriptors(void) {
  struct utsname kernel;
  if (uname(&kernel) < 0) return 0;
  char *rest;
  long major = strtol(kernel.release, &rest, 10);
  long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
  return major > 6 || (major == 6 && minor >= 11);
}

// Makes descriptor `to` a copy of `from` that execve(2) closes; returns -1 with errno on failure. The C library
// declares dup3(2) only with _GNU_SOURCE.
static inline int linux_copy_descriptor(int from, int to) { return (int)syscall(SYS_dup3, from, to, O_CLOEXEC); }

// A child of the calling thread that has ended and was not reaped yet; 0 if there is none.
static inline pid_t linux_ended_child(void) {
  siginfo_t end = {0};
  const int wnothread = 0x20000000;
  return syscall(SYS_waitid, P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT | wnothread, NULL) < 0 ? 0 : end.si_pid;
}

// Swift does not import variadic functions such as prctl(2).
static inline int linux_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }
static inline int linux_resign_as_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 0); }
static inline int linux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }
static inline int linux_pidfd_send_signal(int pidfd, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}
