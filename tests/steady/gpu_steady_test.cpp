// Memory use does not grow during many steps on a GPU.
#include "tests/support/real_gpus.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::gpu_steady_test {

TEST_CASE("a hundred thousand steps do not make a GPU's memory grow", "[gpu]") {
  if (!has_gpu())
    return;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {32, 16}, "x");
  auto weights = g.variable(fill(g, {16, 8}, 0.01f));
  auto loss = mean(square(matmul(x, weights)));
  auto* train = gradient_descent{1e-3f}.minimize(loss);
  auto s = session::local({.gpu = {.count = 1, .place_by_cost = false}});
  s.run(g.initializer());
  auto step = s.prepare({x}, {loss}, {train});
  std::vector<tensor> feeds{tensor::from_values({32, 16}, std::vector<float>(512, 0.5f))};
  auto gpu = make_gpu_devices().back();
  auto memory_held = [&] {
    auto now = gpu->statistics();
    return now.in_use + now.cached;
  };
  for (int i = 0; i < 1000; ++i)
    step.run(feeds);
  auto held_before = memory_held();
  for (int i = 0; i < 100'000; ++i)
    step.run(feeds);
  CHECK(memory_held() <= held_before);
  CHECK(gpu->as_accelerator()->replays().replays > 90'000);
}

} // namespace troupe::test::gpu_steady_test
