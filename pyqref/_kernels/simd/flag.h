/* A flag that one thread raises and others look at, in whatever order they come to it. */
#pragma once

#ifdef _MSC_VER
#define is_raised(flag) (*(volatile const int *)(flag))
#define raise_flag(flag) (*(volatile int *)(flag) = 1)
#else
#define is_raised(flag) __atomic_load_n(flag, __ATOMIC_RELAXED)
#define raise_flag(flag) __atomic_store_n(flag, 1, __ATOMIC_RELAXED)
#endif
