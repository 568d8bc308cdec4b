// Walking a tree of files (fts(3)), which the Glibc module leaves out; and memfd_create(2).
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fts.h>
#include <sys/mman.h>
