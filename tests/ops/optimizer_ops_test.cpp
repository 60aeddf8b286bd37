// Updates of several variables at once, and of rows.
#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"

#include <algorithm>
#include <thread>

namespace troupe::test::optimizer_ops_test {

namespace {

void holds(std::string_view text) {
  for (const auto& failure_text : differences_of(library(), text, small_device()))
    FAIL_CHECK(failure_text);
}

tensor filled(const shape& dims, float value) {
  auto filled_tensor = *tensor::make(dtype::f32, dims);
  std::ranges::fill(filled_tensor.values<float>(), value);
  return filled_tensor;
}

edge add(graph& in, node_spec spec) { return {*in.add(std::move(spec)), 0}; }

edge constant(graph& in, tensor value) {
  auto type = value.type();
  return add(in, {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}});
}

edge variable_of(graph& in, const shape& dims) {
  return add(in, {.op = "VariableV2", .attrs = {{"dtype", dtype::f32}, {"shape", dims}}});
}

} // namespace

TEST_CASE("an optimizer refuses a variable as its own slot") {
  holds(R"(
w = VariableV2 dtype=f32 shape=[2]
init = Assign(w, f32[1, 2])
step = ApplyMomentum(w, w, f32(0.1), f32[1, 1], f32(0.9))
target init
run
target step
error invalid_argument "inputs 0 and 1 are one variable, 'w'"
)");
}

TEST_CASE("a slot must be initialized, and have the variable's shape") {
  holds(R"(
w = VariableV2 dtype=f32 shape=?
m = VariableV2 dtype=f32 shape=?
init = Assign(w, f32[1, 2])
wrong = Assign(m, f32[1, 2, 3])
step = ApplyMomentum(w, m, f32(0.1), f32[1, 1], f32(0.9))
target init
run
target step
error failed_precondition "'m' is uninitialized"
run
target wrong
run
target step
error invalid_argument "'w' has a value of shape [2], 'm' goes with it and has [3]"
)");
}

TEST_CASE("an update with an invalid index changes nothing") {
  holds(R"(
w = VariableV2 dtype=f32 shape=[3]
init = Assign(w, f32[1, 2, 3])
step = ScatterAdd(w, i32[0, 3], f32[10, 10])
target init
run
target step
error invalid_argument "indices has 3, but the variable has the rows [0, 3"
run
fetch w = f32[1, 2, 3]
)");
}

TEST_CASE("whole numbers are not divided by zero, and wrap around") {
  holds(R"(
w = VariableV2 dtype=i8 shape=[2]
init = Assign(w, i8[-128, 1])
zero = ScatterDiv(w, i32[0], i8[0])
least = ScatterDiv(w, i32[0], i8[-1])
target init
run
target zero
error invalid_argument "cannot divide a whole number by zero"
run
fetch least = i8[-128, 1]
)");
}

TEST_CASE("repeated rows get all their updates on any number of threads") {
  constexpr int64_t rows = 7, columns = 16, updates = 40'000;
  graph in{library()};
  auto w = variable_of(in, {rows, columns});
  auto init = add(in, {.op = "Assign", .inputs = {w, constant(in, filled({rows, columns}, 1))}});
  std::vector<int32_t> row_indices;
  for (int32_t i = 0; i < updates; ++i)
    row_indices.push_back(i % (i % 3 ? 2 : 7));
  auto ones = constant(in, filled({updates, columns}, 1));
  auto step =
      add(in, {.op = "ScatterAdd", .inputs = {w, constant(in, tensor::vector(row_indices)), ones}});
  evaluator graph_evaluator{in, small_device()};
  REQUIRE(graph_evaluator.run({}, {}, {init.node}));
  auto outputs = graph_evaluator.run({}, {step});
  REQUIRE(outputs);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      CHECK(outputs->front().values<float>()[static_cast<size_t>(row * columns + column)] ==
            static_cast<float>(1 + std::ranges::count(row_indices, static_cast<int32_t>(row))));
}

TEST_CASE("updates that lock the same variables in different roles do not wait for each other") {
  graph in{library()};
  auto a = variable_of(in, {64}), b = variable_of(in, {64});
  auto rate = constant(in, tensor::scalar(0.0f)), ones = constant(in, filled({64}, 1));
  auto step = [&](edge value, edge slot) {
    return add(in, {.op = "ApplyMomentum", .inputs = {value, slot, rate, ones, rate}}).node;
  };
  node* steps[] = {step(a, b), step(b, a)};
  class variable variables[] = {{"a", dtype::f32, shape{64}}, {"b", dtype::f32, shape{64}}};
  for (auto& each_variable : variables)
    REQUIRE(each_variable.assign(filled({64}, 1)).ok());
  auto* kernel = library().find_kernel("ApplyMomentum", device_kind::cpu);
  std::atomic<int> failures{0};
  auto work = [&](int first) {
    auto state = kernel->prepare({*steps[first], small_device()});
    tensor slots[] = {{}, {}, tensor::scalar(0.0f), filled({64}, 1), tensor::scalar(0.0f), {}};
    uint32_t inputs[] = {0, 1, 2, 3, 4};
    named_state* states[] = {&variables[first], &variables[1 - first], nullptr, nullptr, nullptr};
    dtype types[] = {dtype::f32};
    instruction code{.run = kernel->find(*steps[first]),
                     .state = state->get(),
                     .inputs = inputs,
                     .states = states,
                     .output_types = types,
                     .first_output = 5,
                     .input_count = 5,
                     .output_count = 1,
                     .origin = steps[first]};
    kernel_context context{slots, small_device()};
    context.step_to(code);
    for (int round = 0; round < 2000; ++round)
      failures += !code.run(context).ok();
  };
  std::thread other{work, 1};
  work(0);
  other.join();
  CHECK(failures == 0);
}

} // namespace troupe::test::optimizer_ops_test
