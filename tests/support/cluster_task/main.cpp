// One task of a cluster as a process of its own, for tests that kill, stop and restart it:
// cluster_task JOB TASK CLUSTER_JSON PEER_TIMEOUT_MS, or JOB TASK join:SEEDS PEER_TIMEOUT_MS
// LISTEN. Prints "ready PORT"; ends with its parent. With the job "client" the process is a client
// instead of a task. Client 0 enqueues an element to 'begun' on task 0, and waits for an element of
// 'q' there. Client 1 dequeues an element of 'q', enqueues it to 'begun' on task 1, and waits there
// in the same step for an element that never arrives.
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/operator/task.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/troupe.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/prctl.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

int wait_for_an_element(const cluster_spec& cluster) {
  graph_builder g;
  g.push_device("/job:worker/task:0");
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "q"});
  auto begun_queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "begun"});
  auto order = g.after({queue_enqueue(begun_queue, {g.constant(tensor::scalar(1))})});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  auto s = session::connect(cluster);
  auto wait = s.prepare({}, {dequeued});
  std::printf("ready 0\n");
  std::fflush(stdout);
  wait.run();
  return 0;
}

int wait_with_an_element(const cluster_spec& cluster) {
  graph_builder g;
  g.push_device("/job:worker/task:0");
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "q"});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  g.push_device("/job:worker/task:1");
  auto begun_queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "begun"});
  auto never_queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "never"});
  auto order = g.after({queue_enqueue(begun_queue, {dequeued})});
  auto never_element = queue_dequeue(never_queue, {dtype::i32})[0];
  auto s = session::connect(cluster);
  auto wait = s.prepare({}, {never_element});
  std::printf("ready 0\n");
  std::fflush(stdout);
  wait.run();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 5 && argc != 6)
    return 2;
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  if (std::string_view{argv[1]} == "client") {
    auto spec = parse_cluster(argv[3]);
    if (!spec)
      return 3;
    return std::atoi(argv[2]) == 0 ? wait_for_an_element(*spec) : wait_with_an_element(*spec);
  }
  auto cluster = find_cluster(argv[3]);
  if (!cluster)
    return 3;
  auto running = task::start(
      {.ops = &library(),
       .make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); },
       .cluster = *cluster,
       .self = {argv[1], std::atoi(argv[2])},
       .listen = argc == 6 ? argv[5] : "",
       .insecure = false,
       .inter_op_threads = 2,
       .peer_timeout = std::chrono::milliseconds{std::atoi(argv[4])},
       .member_times = {.settle = 300ms, .unreachable_after = 200ms, .gone_after = 60s},
       .vote_times = {
           .vote_after = 500ms, .candidate_after = 1s, .rank_delay = 300ms, .retry_after = 1s}});
  if (!running) {
    std::fprintf(stderr, "%s\n", running.status().message().c_str());
    return 4;
  }
  std::printf("ready %d\n", (*running)->port());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop, &signal);
}
