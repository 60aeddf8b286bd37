// Limits on the memory of feeds and on the time that remote steps take.
#include "tests/support/worker_world.hpp"

namespace troupe::test::step_limits_test {

TEST_CASE("the steps of one connection hold a limited number of bytes of feeds") {
  worker_world world;
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
get = QueueDequeue(q) component_types=[i32]
x = Placeholder dtype=f32 shape=?
n = Size(x, ^get)
feed x = f32[1]
fetch n
)"};
  auto handle = world.register_from_peer(text);
  auto begin = [&](uint64_t step, const tensor& x) {
    world.sent_messages.clear();
    world.from_peer(run_step{.request = step,
                             .handle = handle,
                             .step = {0, step},
                             .deadline_ms = 60'000,
                             .feeds = {{0, x}}});
    auto* reply =
        world.sent_messages.empty() ? nullptr : std::get_if<step_done>(&world.sent_messages.back());
    return reply ? reply->outcome : status{};
  };
  // The tensor's memory is not touched.
  auto half = *tensor::make(dtype::f32, shape{step_server::max_fed / 8 + 1});
  CHECK(begin(1, half).ok());
  auto refused = begin(2, half);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK(refused.message().find("over the limit of 8589934592") != std::string::npos);
  CHECK(begin(3, tensor::vector<float>({1})).ok());
  CHECK(world.steps.size() == 2);
  world.from_peer(cancel_step{{0, 1}, failure(error_kind::cancelled, "not wanted")});
  CHECK(begin(4, half).ok());
  CHECK(world.steps.size() == 2);
}

TEST_CASE("a kernel stops at its step's deadline, also without a cancellation") {
  worker_world world;
  text_case text{R"(
a = Fill(i32[3000, 3000], f32(1))
b = MatMul(a, a)
s = Sum(b, i32[0, 1])
fetch s
)"};
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = 20, .feeds = {}});
  auto* reply = std::get_if<step_done>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->outcome.kind() == error_kind::deadline_exceeded);
}

} // namespace troupe::test::step_limits_test
