// The calls to cuDNN on a simulated GPU, to a fake library.
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

// The third is by far the fastest, and sums in another order each time.
const std::vector<fake_algorithm> usual{
    {.workspace = size_t{100} << 20}, {.workspace = 1000}, {.deterministic = false}};
constexpr int fastest = 2;

// A GPU whose algorithms write their own number.
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

  status compute(const convolution& geometry, std::array<tensor, 3>& tensors) {
    launched = {};
    CHECK(refused == 0);
    for (auto& each_tensor : tensors) {
      TROUPE_ASSIGN(each_tensor, tensor::make(dtype::f32, {16}, device->memory()));
    }
    return convolve(*device, device->memory(), geometry, tensors[0].raw(), tensors[1].raw(),
                    tensors[2].raw());
  }
  // Returns the number of the algorithm that wrote the result last.
  int run(const convolution& geometry) {
    std::array<tensor, 3> tensors;
    auto outcome = compute(geometry, tensors);
    INFO(outcome.message());
    REQUIRE(outcome);
    auto written = download(tensors[static_cast<size_t>(geometry.computes)]).get();
    REQUIRE(written);
    return static_cast<int>(written->values<float>()[0]);
  }

  std::array<int, 3> launched{};
  int refused = 0; // refused by the driver
};

using launches = std::array<int, 3>;

// Checks the trials of the algorithms from `first` on: each was timed once or, unless it was far
// slower than another, three times, with untimed runs. The fastest has also run `wanted` times for
// results.
void check_tried(launches counts, size_t first = 0, int wanted = 1) {
  counts[fastest] -= wanted;
  for (size_t i = 0; i < counts.size(); ++i) {
    INFO("algorithm " << i << " was launched " << counts[i] << " times");
    CHECK((i < first ? counts[i] == 0 : counts[i] == 2 || counts[i] == 5));
  }
}

// Results are kept for the process, so each test uses a new convolution.
convolution new_convolution() {
  static int64_t images = 0;
  return {.images = ++images, .in_channels = 1, .out_channels = 1};
}

} // namespace

TEST_CASE("the first convolution tries the algorithms, and later ones run the fastest") {
  watchdog watch;
  fake_gpu gpu;
  INFO("seed " << gpu.seed);
  for (auto computes : {convolved::output, convolved::input, convolved::filter}) {
    auto geometry = new_convolution();
    geometry.computes = computes;
    CHECK(gpu.run(geometry) == fastest);
    check_tried(gpu.launched);
    CHECK(gpu.run(geometry) == fastest);
    CHECK(gpu.launched == launches{0, 0, 1});
  }
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("trials leave no memory in use, and no large blocks in the cache") {
  watchdog watch;
  fake_gpu gpu;
  INFO("seed " << gpu.seed);
  gpu.run(new_convolution());
  CHECK(gpu.device->statistics().in_use == 0);
  CHECK(gpu.device->statistics().cached < size_t{1} << 20);
  CHECK(gpu.device->statistics().peak >= size_t{100} << 20);
}

TEST_CASE("a later session on another GPU of the same kind tries nothing") {
  watchdog watch;
  auto geometry = new_convolution();
  CHECK(fake_gpu{}.run(geometry) == fastest);
  fake_gpu gpu;
  CHECK(gpu.run(geometry) == fastest);
  CHECK(gpu.launched == launches{0, 0, 1});
}

TEST_CASE("a deterministic convolution follows the advice even after trials") {
  watchdog watch;
  fake_gpu gpu;
  auto geometry = new_convolution();
  geometry.deterministic = true;
  CHECK(gpu.run(geometry) == 0);
  CHECK(gpu.launched == launches{1, 0, 0});
  geometry.deterministic = false;
  CHECK(gpu.run(geometry) == fastest);
  geometry.deterministic = true;
  fake_cudnn::instance().algorithms[0].works = false;
  CHECK(gpu.run(geometry) == 1); // not the fastest
}

TEST_CASE("an explicit choice of cuDNN's advice is followed") {
  watchdog watch;
  fake_gpu gpu;
  measure_convolutions(*gpu.device, false);
  CHECK(gpu.run(new_convolution()) == 0);
  CHECK(gpu.launched == launches{1, 0, 0});
}

TEST_CASE("nothing is tried while launches are recorded") {
  watchdog watch;
  fake_gpu gpu;
  auto geometry = new_convolution();
  {
    auto recording = gpu.device->record();
    REQUIRE(recording);
    std::array<tensor, 3> tensors;
    CHECK(gpu.compute(geometry, tensors));
    CHECK(gpu.launched == launches{1, 0, 0});
    tensors = {};
    CHECK((*recording)->end());
  }
  CHECK(gpu.run(geometry) == fastest);
  check_tried(gpu.launched);
  auto recording = gpu.device->record();
  REQUIRE(recording);
  std::array<tensor, 3> tensors;
  CHECK(gpu.compute(geometry, tensors));
  CHECK(gpu.launched == launches{0, 0, 1});
  tensors = {};
  CHECK((*recording)->end());
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a refused algorithm is not chosen, and not launched again") {
  watchdog watch;
  fake_gpu gpu;
  fake_cudnn::instance().algorithms[fastest].works = false;
  auto geometry = new_convolution();
  auto chosen = gpu.run(geometry);
  CHECK(chosen != fastest);
  SECTION("even if it is refused only later") {
    fake_cudnn::instance().algorithms[static_cast<size_t>(chosen)].works = false;
    CHECK(gpu.run(geometry) == 1 - chosen);
    fake_cudnn::instance().algorithms = usual;
    CHECK(gpu.run(geometry) == 1 - chosen);
  }
  SECTION("if all are refused, the error says so") {
    for (auto& each_algorithm : fake_cudnn::instance().algorithms)
      each_algorithm.works = false;
    std::array<tensor, 3> tensors;
    auto outcome = gpu.compute(geometry, tensors);
    CHECK(outcome.kind() == error_kind::unimplemented);
    CHECK(outcome.message().find("the fake refuses it") != std::string::npos);
  }
}

TEST_CASE("an algorithm without memory is not tried, and others are used") {
  watchdog watch;
  fake_gpu gpu{size_t{20} << 20};
  auto geometry = new_convolution();
  CHECK(gpu.run(geometry) == fastest);
  check_tried(gpu.launched, 1);
  fake_cudnn::instance().algorithms = {{.workspace = size_t{100} << 20}};
  std::array<tensor, 3> tensors;
  CHECK(gpu.compute(new_convolution(), tensors).kind() == error_kind::resource_exhausted);
}

TEST_CASE("many threads may compute a new convolution at the same time") {
  watchdog watch;
  fake_gpu gpu;
  INFO("seed " << gpu.seed);
  auto geometry = new_convolution();
  std::vector<std::jthread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::array<tensor, 3> tensors;
      for (auto& each_tensor : tensors)
        each_tensor = *tensor::make(dtype::f32, {16}, gpu.device->memory());
      failures += !convolve(*gpu.device, gpu.device->memory(), geometry, tensors[0].raw(),
                            tensors[1].raw(), tensors[2].raw());
    });
  threads.clear();
  CHECK(failures == 0);
  check_tried(gpu.launched, 0, 4);
  CHECK(gpu.finish());
  CHECK(gpu.driver->misuses() == "");
}

} // namespace troupe::test::convolve_test
