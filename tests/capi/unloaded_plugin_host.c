/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: unloaded_plugin_host PLUGIN finish|leave SONAME|gone
 *
 * Loads a plugin that uses Tenon and closes it before MPI_Finalize, twice, as OpenFOAM does with
 * the libraries of a case. With "finish" the plugin has finalized Tenon before, with "leave" it has
 * not. SONAME is the library that remains loaded, "gone" says that Tenon is unloaded with the
 * plugin. MPI_Finalize and SIGUSR1, for which Tenon had installed a handler, must then not call
 * functions that were unloaded. */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                \
    }                                                                                              \
  } while (0)

static volatile sig_atomic_t signals; /* calls of the handler below */

static void countSignal(int number) {
  (void)number;
  ++signals;
}

static void* find(void* plugin, const char* name) {
  void* symbol = dlsym(plugin, name);
  CHECK(symbol != NULL);
  return symbol;
}

/* `remaining` is the library that must still be loaded after dlclose(), NULL if the plugin itself
 * must be unloaded. */
static void useAndClose(const char* path, int finishes, const char* remaining, MPI_Comm own) {
  int (*use)(MPI_Comm) = NULL;
  int (*finish)(void) = NULL;
  void *symbol = NULL, *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL)
    fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  symbol = find(plugin, "pluginUse");
  memcpy(&use, &symbol, sizeof symbol); /* not a cast: ISO C has none from void* to a function */
  symbol = find(plugin, "pluginFinish");
  memcpy(&finish, &symbol, sizeof symbol);
  CHECK(use(own) == 0);
  if (finishes)
    CHECK(finish() == 0);
  CHECK(dlclose(plugin) == 0);
  plugin = dlopen(remaining ? remaining : path, RTLD_NOW | RTLD_NOLOAD);
  CHECK((plugin != NULL) == (remaining != NULL));
  if (plugin != NULL)
    dlclose(plugin);
}

int main(int argc, char** argv) {
  int finishes, i;
  const char* remaining;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  CHECK(argc == 4);
  finishes = strcmp(argv[2], "finish") == 0;
  remaining = strcmp(argv[3], "gone") != 0 ? argv[3] : NULL;
  CHECK(signal(SIGUSR1, countSignal) != SIG_ERR);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  for (i = 0; i < 2; ++i)
    useAndClose(argv[1], finishes, remaining, own);
  raise(SIGUSR1);
  /* If Tenon is loaded and not finalized, its own handler is still installed. */
  CHECK(signals == 1 || (remaining && !finishes));
  MPI_Comm_free(&own);
  MPI_Finalize();
  puts("MPI has ended");
  return 0;
}
