// Queues on simulated GPUs: what they hold lies in the GPU's memory (prefetched batches).
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <random>

namespace troupe::test::gpu_queue_test {

using namespace std::chrono_literals;

namespace {

struct queue_session {
  queue_session() {
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [this] {
      auto made = make_simulated_devices(2, {.seed = seed});
      devices = made;
      return made;
    };
    options.inter_op_threads = 2;
    options.passes.fold = false; // or what is to run on a GPU would be constants
    auto started = client::local(options);
    REQUIRE(started);
    client = *std::move(started);
  }

  copy_statistics copies(size_t gpu) const { return devices[gpu + 1]->as_accelerator()->copies(); }

  result<std::vector<tensor>> run(const text_case& of, size_t which,
                                  std::chrono::milliseconds timeout = 20s) const {
    const auto& run = of.text.runs.at(which);
    auto deadline = step_clock::now() + timeout;
    TROUPE_ASSIGN(auto step, client->prepare(*of.nodes, signature_of(run), deadline));
    return client->run(*step, feeds_of(run), deadline);
  }

  std::string difference(const text_case& of, size_t which) const {
    return complaint_about(of.text.runs.at(which), run(of, which));
  }

  unsigned seed = std::random_device{}();
  std::vector<std::shared_ptr<device>> devices; // a processor, then two GPUs
  std::unique_ptr<troupe::client> client;
};

text_case gpu_case(std::string_view text) { return text_case{text, "test", &simulated_library()}; }

// Runs: put, get a product on the GPU, get on the host, the size.
const char* on_gpu = R"(
x = Placeholder dtype=f32 shape=[100,100]
label = Placeholder dtype=i32 shape=[]
q = FIFOQueue component_types=[f32,i32] shapes=[[100,100],[]] capacity=4 @"/gpu:0"
put = QueueEnqueue(q, x, label)
got = QueueDequeue(q) component_types=[f32,i32]
y = Neg(got) @"/gpu:0"
top = Max(y, i32[0, 1]) @"/gpu:0"
same = Identity(got:1) @"/cpu:0"
host = Abs(got) @"/cpu:0"
n = QueueSize(q)
feed x = f32{100, 100}[3]
feed label = i32(7)
target put
run
fetch top = f32(-3)
fetch same = i32(7)
run
fetch host = f32{100, 100}[3]
run
fetch n = i32(1)
)";

constexpr uint64_t batch = 100 * 100 * sizeof(float);

} // namespace

TEST_CASE("what a queue on a GPU holds lies in its memory, and is taken out without a copy") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  auto what = gpu_case(on_gpu);
  for (int i = 0; i < 4; ++i)
    REQUIRE(session.difference(what, 0) == "");
  auto filled = session.copies(0);
  CHECK(filled.uploaded >= 4 * batch);
  CHECK(filled.downloaded == 0);
  for (int i = 0; i < 3; ++i)
    REQUIRE(session.difference(what, 1) == "");
  auto used = session.copies(0);
  CHECK(used.uploaded - filled.uploaded < batch);
  CHECK(used.downloaded < batch);
  CHECK(session.difference(what, 3) == "");
}

TEST_CASE("what a queue on a GPU holds comes to the host where it is read there") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  auto what = gpu_case(on_gpu);
  REQUIRE(session.difference(what, 0) == "");
  CHECK(session.difference(what, 2) == "");
  CHECK(session.copies(0).downloaded >= batch);
}

TEST_CASE("a queue that names no GPU holds its elements in the host's memory") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  std::string text{on_gpu};
  auto at = text.find(" @\"/gpu:0\"");
  text.erase(at, std::string_view{" @\"/gpu:0\""}.size());
  auto what = gpu_case(text);
  for (size_t run : {0, 0})
    REQUIRE(session.difference(what, run) == "");
  CHECK(session.copies(0).uploaded == 0);
  CHECK(session.difference(what, 1) == "");
}

TEST_CASE(
    "an element in a GPU's memory cannot be had on a processor's queue: the error says where") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  auto there = gpu_case(on_gpu);
  REQUIRE(session.difference(there, 0) == "");
  auto here = gpu_case(R"(
q = FIFOQueue component_types=[f32,i32] shapes=[[100,100],[]] capacity=4 @"/cpu:0"
got = QueueDequeue(q) component_types=[f32,i32]
fetch got
)");
  auto outcome = session.run(here, 0);
  REQUIRE(!outcome);
  CHECK(outcome.status().kind() == error_kind::failed_precondition);
  CHECK(outcome.status().message().find("dequeue it on that device") != std::string::npos);
  CHECK(session.difference(there, 3) == ""); // it went back
}

TEST_CASE("a queue whose elements are stacked lives on the processor, whatever it names") {
  watchdog watch;
  queue_session session;
  auto what = gpu_case(R"(
x = Placeholder dtype=f32 shape=[1000]
q = FIFOQueue component_types=[f32] shapes=[[1000]] capacity=4 @"/gpu:0"
put = QueueEnqueueMany(q, f32{2, 1000}[5])
many = QueueDequeueMany(q, i32(2)) component_types=[f32]
later = Identity(many) @"/cpu:0"
target put
run
fetch later = f32{2, 1000}[5]
)");
  CHECK(session.difference(what, 0) == "");
  CHECK(session.difference(what, 1) == "");
  CHECK(session.copies(0).uploaded == 0);
}

} // namespace troupe::test::gpu_queue_test
