// What the JSON library has allocated, which no arena bounds: for tests of what a text may cost.
//
//   json_memory_watch ──▶ now, peak ... ──▶ json_memory_release
#ifndef TESTS_SUPPORT_JSON_MEMORY_H
#define TESTS_SUPPORT_JSON_MEMORY_H

#include <stddef.h>

// Counts from 0; nothing of before may be freed until the release.
void json_memory_watch(void);
void json_memory_release(void);

size_t json_memory_now(void);  // bytes
size_t json_memory_peak(void); // the most that it has been since the watch began

#endif
