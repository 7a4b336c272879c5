/* SPDX-License-Identifier: BSD-2-Clause */
/* For test programs in C: loads a shared object and calls its function without arguments. */
#ifndef TENON_TEST_LOAD_PLUGIN_H
#define TENON_TEST_LOAD_PLUGIN_H

#include "support/check.h"

#include <dlfcn.h>
#include <string.h>

static TenonErrorCode loadPlugin(const char* path, const char* name) {
  TenonErrorCode (*function)(void) = NULL;
  void* symbol = NULL;
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL)
    fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  symbol = dlsym(plugin, name);
  CHECK(symbol != NULL);
  memcpy(&function, &symbol, sizeof symbol); /* as POSIX wants it */
  return function();
}

#endif
