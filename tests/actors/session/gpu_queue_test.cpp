// Queues on simulated GPUs: their elements lie in the GPU's memory (prefetched batches).
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
      auto simulated_devices = make_simulated_devices(2, {.seed = seed});
      devices = simulated_devices;
      return simulated_devices;
    };
    options.inter_op_threads = 2;
    options.passes.fold = false; // otherwise the GPU's nodes would be folded into constants
    auto local_client = client::local(options);
    REQUIRE(local_client);
    client = *std::move(local_client);
  }

  copy_statistics copies(size_t gpu) const { return devices[gpu + 1]->as_accelerator()->copies(); }

  result<std::vector<tensor>> run(const text_case& test_case, size_t run_index,
                                  std::chrono::milliseconds timeout = 20s) const {
    const auto& run = test_case.text.runs.at(run_index);
    auto deadline = step_clock::now() + timeout;
    TROUPE_ASSIGN(auto step, client->prepare(*test_case.nodes, signature_of(run), deadline));
    return client->run(*step, feeds_of(run), deadline);
  }

  std::string difference(const text_case& test_case, size_t run_index) const {
    return difference_of(test_case.text.runs.at(run_index), run(test_case, run_index));
  }

  unsigned seed = std::random_device{}();
  std::vector<std::shared_ptr<device>> devices; // a processor, then two GPUs
  std::unique_ptr<troupe::client> client;
};

text_case gpu_case(std::string_view text) { return text_case{text, "test", &simulated_library()}; }

// Runs: enqueue, dequeue a product on the GPU, dequeue on the host, the size.
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

TEST_CASE("elements of a queue on a GPU lie in its memory, and are dequeued without a copy") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  auto test_case = gpu_case(on_gpu);
  for (int i = 0; i < 4; ++i)
    REQUIRE(session.difference(test_case, 0) == "");
  auto filled = session.copies(0);
  CHECK(filled.uploaded >= 4 * batch);
  CHECK(filled.downloaded == 0);
  for (int i = 0; i < 3; ++i)
    REQUIRE(session.difference(test_case, 1) == "");
  auto used = session.copies(0);
  CHECK(used.uploaded - filled.uploaded < batch);
  CHECK(used.downloaded < batch);
  CHECK(session.difference(test_case, 3) == "");
}

TEST_CASE("elements of a queue on a GPU are copied to the host where the host reads them") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  auto test_case = gpu_case(on_gpu);
  REQUIRE(session.difference(test_case, 0) == "");
  CHECK(session.difference(test_case, 2) == "");
  CHECK(session.copies(0).downloaded >= batch);
}

TEST_CASE("a queue without a GPU device holds its elements in the host's memory") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  std::string text{on_gpu};
  auto position = text.find(" @\"/gpu:0\"");
  text.erase(position, std::string_view{" @\"/gpu:0\""}.size());
  auto test_case = gpu_case(text);
  for (size_t run : {0, 0})
    REQUIRE(session.difference(test_case, run) == "");
  CHECK(session.copies(0).uploaded == 0);
  CHECK(session.difference(test_case, 1) == "");
}

TEST_CASE("an element in a GPU's memory cannot be used by a processor's queue: the error says so") {
  watchdog watch;
  queue_session session;
  INFO("seed " << session.seed);
  auto gpu_text = gpu_case(on_gpu);
  REQUIRE(session.difference(gpu_text, 0) == "");
  auto host_case = gpu_case(R"(
q = FIFOQueue component_types=[f32,i32] shapes=[[100,100],[]] capacity=4 @"/cpu:0"
got = QueueDequeue(q) component_types=[f32,i32]
fetch got
)");
  auto outcome = session.run(host_case, 0);
  REQUIRE(!outcome);
  CHECK(outcome.status().kind() == error_kind::failed_precondition);
  CHECK(outcome.status().message().find("dequeue it on that device") != std::string::npos);
  CHECK(session.difference(gpu_text, 3) == ""); // the element was returned
}

TEST_CASE("a queue whose elements are stacked lives on the processor, whatever device it names") {
  watchdog watch;
  queue_session session;
  auto test_case = gpu_case(R"(
x = Placeholder dtype=f32 shape=[1000]
q = FIFOQueue component_types=[f32] shapes=[[1000]] capacity=4 @"/gpu:0"
put = QueueEnqueueMany(q, f32{2, 1000}[5])
many = QueueDequeueMany(q, i32(2)) component_types=[f32]
later = Identity(many) @"/cpu:0"
target put
run
fetch later = f32{2, 1000}[5]
)");
  CHECK(session.difference(test_case, 0) == "");
  CHECK(session.difference(test_case, 1) == "");
  CHECK(session.copies(0).uploaded == 0);
}

} // namespace troupe::test::gpu_queue_test
