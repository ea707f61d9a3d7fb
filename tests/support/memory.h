// Allocations that fail on purpose. The linker leads malloc, calloc, realloc and strdup of all that
// is linked into a suite through here (--wrap in the Makefile); jansson is asked to come as well.
// What system libraries take for themselves is not touched. Assert nothing while it is on: Check is
// linked statically and allocates, too.
//
//   for (n = 0;; n++) {
//       memory_fail_after(n);
//       st = x_open(&x, &err);
//       memory_fail_after(-1);
//       if (st == OK) break;
//       ck_assert_int_eq(st, ERR_MEMORY);
//   }
//   ck_assert_int_ge(n, 1); // x_open does allocate
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

// Lets n_allocs more allocations of this thread succeed, then fails each. -1 switches it off.
void memory_fail_after(long n_allocs);

#endif
