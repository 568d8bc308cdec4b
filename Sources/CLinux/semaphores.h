// A wait for a semaphore that ends in time, on the monotonic clock.
#pragma once
#include <semaphore.h>
#include <time.h>

// <semaphore.h> declares it only with _GNU_SOURCE; glibc has it from 2.30 on.
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *end);

static inline int linux_semaphore_wait(sem_t *semaphore, const struct timespec *end) {
  return sem_clockwait(semaphore, CLOCK_MONOTONIC, end);
}
