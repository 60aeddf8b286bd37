// One task of a cluster as a process of its own, for tests that kill, stop and restart it:
// cluster_task JOB TASK CLUSTER_JSON PEER_TIMEOUT_MS. Prints "ready PORT"; ends with its parent.
#include "troupe/actors/task.hpp"
#include "troupe/api/library.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/prctl.h>

int main(int argc, char** argv) {
  using namespace troupe;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 5)
    return 2;
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  auto cluster = parse_cluster(argv[3]);
  if (!cluster)
    return 3;
  auto running = task::start({.ops = &library(),
                              .make_devices = [] { return make_devices(1); },
                              .cluster = *cluster,
                              .self = {argv[1], std::atoi(argv[2])},
                              .listen = {},
                              .insecure = false,
                              .inter_op_threads = 2,
                              .peer_timeout = std::chrono::milliseconds{std::atoi(argv[4])}});
  if (!running) {
    std::fprintf(stderr, "%s\n", running.status().message().c_str());
    return 4;
  }
  std::printf("ready %d\n", (*running)->port());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop, &signal);
}
