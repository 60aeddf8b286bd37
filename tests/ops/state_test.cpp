#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"

#include <thread>

namespace troupe::test::state_test {

namespace {

void holds(std::string_view text) {
  for (const auto& failure_text : differences_of(library(), text, small_device()))
    FAIL_CHECK(failure_text);
}

} // namespace

TEST_CASE("a variable must be assigned before it is read or updated") {
  holds(R"(
v = VariableV2 dtype=f32 shape=[2]
more = AssignAdd(v, f32[1, 1])
fetch v
error failed_precondition "'v' is uninitialized"
run
target more
error failed_precondition "'v' is uninitialized"
)");
}

TEST_CASE("an update does not change values that were read before it") {
  holds(R"(
start = f32[1, 2]
v = VariableV2 dtype=f32 shape=[2]
init = Assign(v, start)
more = AssignAdd(v, f32[10, 10])
target init
run
target more
run
fetch start = f32[1, 2]
fetch v = f32[11, 12]
)");
}

TEST_CASE("Assign validates shapes if validate_shape is set") {
  holds(R"(
v = VariableV2 dtype=f32 shape=?
init = Assign(v, f32[1, 2])
strict = Assign(v, f32[1, 2, 3])
loose = Assign(v, f32[1, 2, 3]) validate_shape=false
add = AssignAdd(v, f32[1, 2])
target init
run
target strict
error invalid_argument "validate_shape=false allows that"
run
fetch loose = f32[1, 2, 3]
run
target add
error invalid_argument "variable 'v' has a value of shape [3]"
)");
  holds(R"(
v = VariableV2 dtype=f32 shape=[2]
init = Assign(v, f32[1, 2, 3])
error invalid_argument "the variable has shape [2], the value [3]"
)");
}

TEST_CASE("updates of integers wrap around") {
  holds(R"(
v = VariableV2 dtype=i8 shape=[]
init = Assign(v, i8(127))
add = AssignAdd(v, i8(1))
sub = AssignSub(v, i8(1))
target init
run
fetch add = i8(-128)
run
fetch sub = i8(127)
)");
}

TEST_CASE("updates from many threads exclude each other") {
  graph in{library()};
  auto* variable =
      *in.add({.op = "VariableV2", .attrs = {{"dtype", dtype::f32}, {"shape", shape{100}}}});
  std::vector<float> ones(100, 1.0f);
  auto* ones_node =
      *in.add({.op = "Const", .attrs = {{"value", tensor::vector(ones)}, {"dtype", dtype::f32}}});
  auto* add = *in.add({.op = "AssignAdd", .inputs = {{variable, 0}, {ones_node, 0}}});
  auto* kernel = library().find_kernel("AssignAdd", device_kind::cpu);
  auto state = *kernel->prepare({*add, small_device()});
  class variable shared {
    "v", dtype::f32, shape { 100 }
  };
  REQUIRE(shared.assign(*tensor::vector(ones).clone()).ok());

  constexpr int threads = 4, rounds = 500;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads_running;
  for (int i = 0; i < threads; ++i)
    threads_running.emplace_back([&] {
      tensor slots[] = {{}, tensor::vector(ones), {}};
      uint32_t inputs[] = {0, 1};
      named_state* states[] = {&shared, nullptr};
      dtype types[] = {dtype::f32};
      instruction code{.run = kernel->find(*add),
                       .state = state.get(),
                       .inputs = inputs,
                       .states = states,
                       .output_types = types,
                       .first_output = 2,
                       .input_count = 2,
                       .output_count = 1,
                       .origin = add};
      kernel_context context{slots, small_device()};
      context.step_to(code);
      for (int round = 0; round < rounds; ++round) {
        failures += !code.run(context).ok();
        auto snapshot = *shared.read(); // consistent: all elements from one moment
        for (auto value : snapshot.values<float>())
          failures += value != snapshot.values<float>()[0];
      }
    });
  for (auto& thread : threads_running)
    thread.join();
  CHECK(failures == 0);
  CHECK(shared.read()->values<float>()[99] == 1 + threads * rounds);
}

} // namespace troupe::test::state_test
