/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: unloaded_plugin_host PLUGIN finish|leave SONAME|gone Loads a plugin that uses Tenon, and
 * closes it before MPI ends, twice, as OpenFOAM does with its libs. The plugin has finished with
 * Tenon by then, or leaves it as it is. MPI and the signal that the plugin has noted must then call
 * nothing of what was unloaded: the plugin, if Tenon is a part of it. */
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

static volatile sig_atomic_t arrived;

static void note(int number) {
  (void)number;
  ++arrived;
}

static void* find(void* plugin, const char* name) {
  void* symbol = dlsym(plugin, name);
  CHECK(symbol != NULL);
  return symbol;
}

/* `kept` is the library that stays loaded, and NULL if there is none, since the plugin has all that
 * it needs. */
static void useAndClose(const char* path, int finishes, const char* kept, MPI_Comm own) {
  int (*use)(MPI_Comm) = NULL;
  int (*finish)(void) = NULL;
  void *symbol = NULL, *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL)
    fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  symbol = find(plugin, "pluginUse");
  memcpy(&use, &symbol, sizeof symbol); /* as POSIX wants it */
  symbol = find(plugin, "pluginFinish");
  memcpy(&finish, &symbol, sizeof symbol);
  CHECK(use(own) == 0);
  if (finishes)
    CHECK(finish() == 0);
  CHECK(dlclose(plugin) == 0);
  plugin = dlopen(kept ? kept : path, RTLD_NOW | RTLD_NOLOAD);
  CHECK((plugin != NULL) == (kept != NULL));
  if (plugin != NULL)
    dlclose(plugin);
}

int main(int argc, char** argv) {
  int finishes, i;
  const char* kept;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  CHECK(argc == 4);
  finishes = strcmp(argv[2], "finish") == 0;
  kept = strcmp(argv[3], "gone") != 0 ? argv[3] : NULL;
  CHECK(signal(SIGUSR1, note) != SIG_ERR);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  for (i = 0; i < 2; ++i)
    useAndClose(argv[1], finishes, kept, own);
  raise(SIGUSR1);
  CHECK(arrived == 1 || (kept && !finishes)); /* Tenon's handler is still there, and holds it */
  MPI_Comm_free(&own);
  MPI_Finalize();
  puts("MPI has ended");
  return 0;
}
