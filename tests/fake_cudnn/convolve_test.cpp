// What is asked of cuDNN, on a simulated GPU, of a library that only pretends.
#include "troupe/devices/gpu/cuda/convolve.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/fake_cudnn/fake_cudnn.hpp"
#include "tests/support/watchdog.hpp"

#include <mutex>
#include <thread>

namespace troupe::test::convolve_test {

using namespace troupe::gpu;
using namespace std::chrono_literals;

namespace {

// The third is by far the fastest, and adds up in another order each time.
const std::vector<fake_algorithm> usual{
    {.workspace = size_t{100} << 20}, {.workspace = 1000}, {.deterministic = false}};
constexpr int fastest = 2;

// A GPU whose algorithms write their number.
struct fake_gpu : simulated_gpu {
  explicit fake_gpu(size_t memory_limit = 0)
      : simulated_gpu{{.memory = size_t{1} << 29, .seed = std::random_device{}()}, memory_limit} {
    auto& library = fake_cudnn::instance();
    library.algorithms = usual;
    library.launch = [this](cudaStream_t in, int algorithm, void* result, void*) {
      ++launched[static_cast<size_t>(algorithm)];
      refused += !driver->launch(
          [=]() -> status {
            std::this_thread::sleep_for(algorithm == fastest ? 0ms : 20ms);
            *static_cast<float*>(result) = static_cast<float>(algorithm);
            return {};
          },
          reinterpret_cast<stream>(in));
    };
  }

  status compute(const convolution& what, std::array<tensor, 3>& of) {
    launched = {};
    CHECK(refused == 0);
    for (auto& one : of) {
      TROUPE_ASSIGN(one, tensor::make(dtype::f32, {16}, device->memory()));
    }
    return convolve(*device, device->memory(), what, of[0].raw(), of[1].raw(), of[2].raw());
  }
  // The number of the algorithm that has written the result last.
  int run(const convolution& what) {
    std::array<tensor, 3> of;
    auto outcome = compute(what, of);
    INFO(outcome.message());
    REQUIRE(outcome);
    auto seen = download(of[static_cast<size_t>(what.computes)]).get();
    REQUIRE(seen);
    return static_cast<int>(seen->values<float>()[0]);
  }

  std::array<int, 3> launched{};
  int refused = 0; // by the driver
};

using launches = std::array<int, 3>;

// Those from `first` on were tried: timed once or, unless they were far slower than another, three
// times, with runs that are not timed. The fastest has computed what was wanted so many times.
void check_tried(launches counts, size_t first = 0, int wanted = 1) {
  counts[fastest] -= wanted;
  for (size_t i = 0; i < counts.size(); ++i) {
    INFO("algorithm " << i << " was launched " << counts[i] << " times");
    CHECK((i < first ? counts[i] == 0 : counts[i] == 2 || counts[i] == 5));
  }
}

// What was found is the process's, so each test asks something else.
convolution another() {
  static int64_t images = 0;
  return {.images = ++images, .in_channels = 1, .out_channels = 1};
}

} // namespace

TEST_CASE("the first convolution tries the algorithms, and later ones run the fastest") {
  watchdog watch;
  fake_gpu gpu;
  INFO("seed " << gpu.seed);
  for (auto computes : {convolved::output, convolved::input, convolved::filter}) {
    auto what = another();
    what.computes = computes;
    CHECK(gpu.run(what) == fastest);
    check_tried(gpu.launched);
    CHECK(gpu.run(what) == fastest);
    CHECK(gpu.launched == launches{0, 0, 1});
  }
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("trials leave no memory in use, and no large blocks in the cache") {
  watchdog watch;
  fake_gpu gpu;
  INFO("seed " << gpu.seed);
  gpu.run(another());
  CHECK(gpu.device->statistics().in_use == 0);
  CHECK(gpu.device->statistics().cached < size_t{1} << 20);
  CHECK(gpu.device->statistics().peak >= size_t{100} << 20);
}

TEST_CASE("a session that comes later, on another GPU of that kind, tries nothing") {
  watchdog watch;
  auto what = another();
  CHECK(fake_gpu{}.run(what) == fastest);
  fake_gpu gpu;
  CHECK(gpu.run(what) == fastest);
  CHECK(gpu.launched == launches{0, 0, 1});
}

TEST_CASE("a deterministic convolution takes the advice, also when more is known") {
  watchdog watch;
  fake_gpu gpu;
  auto what = another();
  what.deterministic = true;
  CHECK(gpu.run(what) == 0);
  CHECK(gpu.launched == launches{1, 0, 0});
  what.deterministic = false;
  CHECK(gpu.run(what) == fastest);
  what.deterministic = true;
  fake_cudnn::instance().algorithms[0].works = false;
  CHECK(gpu.run(what) == 1); // not the fastest
}

TEST_CASE("who wants cuDNN's advice gets it") {
  watchdog watch;
  fake_gpu gpu;
  measure_convolutions(*gpu.device, false);
  CHECK(gpu.run(another()) == 0);
  CHECK(gpu.launched == launches{1, 0, 0});
}

TEST_CASE("nothing is tried while launches are noted down") {
  watchdog watch;
  fake_gpu gpu;
  auto what = another();
  {
    auto recording = gpu.device->record();
    REQUIRE(recording);
    std::array<tensor, 3> of;
    CHECK(gpu.compute(what, of));
    CHECK(gpu.launched == launches{1, 0, 0});
    of = {};
    CHECK((*recording)->end());
  }
  CHECK(gpu.run(what) == fastest);
  check_tried(gpu.launched);
  auto recording = gpu.device->record();
  REQUIRE(recording);
  std::array<tensor, 3> of;
  CHECK(gpu.compute(what, of));
  CHECK(gpu.launched == launches{0, 0, 1});
  of = {};
  CHECK((*recording)->end());
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("what is refused is not chosen, and not launched again") {
  watchdog watch;
  fake_gpu gpu;
  fake_cudnn::instance().algorithms[fastest].works = false;
  auto what = another();
  auto chosen = gpu.run(what);
  CHECK(chosen != fastest);
  SECTION("also when that only turns out later") {
    fake_cudnn::instance().algorithms[static_cast<size_t>(chosen)].works = false;
    CHECK(gpu.run(what) == 1 - chosen);
    fake_cudnn::instance().algorithms = usual;
    CHECK(gpu.run(what) == 1 - chosen);
  }
  SECTION("and where nothing is left, the error says so") {
    for (auto& one : fake_cudnn::instance().algorithms)
      one.works = false;
    std::array<tensor, 3> of;
    auto outcome = gpu.compute(what, of);
    CHECK(outcome.kind() == error_kind::unimplemented);
    CHECK(outcome.message().find("the fake refuses it") != std::string::npos);
  }
}

TEST_CASE("what has no memory is not tried, and is no loss") {
  watchdog watch;
  fake_gpu gpu{size_t{20} << 20};
  auto what = another();
  CHECK(gpu.run(what) == fastest);
  check_tried(gpu.launched, 1);
  fake_cudnn::instance().algorithms = {{.workspace = size_t{100} << 20}};
  std::array<tensor, 3> of;
  CHECK(gpu.compute(another(), of).kind() == error_kind::resource_exhausted);
}

TEST_CASE("many threads may meet a convolution for the first time") {
  watchdog watch;
  fake_gpu gpu;
  INFO("seed " << gpu.seed);
  auto what = another();
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::array<tensor, 3> of;
      for (auto& one : of)
        one = *tensor::make(dtype::f32, {16}, gpu.device->memory());
      wrong +=
          !convolve(*gpu.device, gpu.device->memory(), what, of[0].raw(), of[1].raw(), of[2].raw());
    });
  threads.clear();
  CHECK(wrong == 0);
  check_tried(gpu.launched, 0, 4);
  CHECK(gpu.finish());
  CHECK(gpu.driver->misdeeds() == "");
}

} // namespace troupe::test::convolve_test
