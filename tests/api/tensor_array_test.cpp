// TensorArrays and stacks: order, gradients in loops and branches, lifetimes, and errors
// (tests/graphs/tensorflow/arrays.py compares with TensorFlow).
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/runtime/types/tensor_list.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <thread>

namespace troupe::test::tensor_array_test {
namespace {

using list = std::vector<edge>;
using Catch::Matchers::Contains;
constexpr auto f64 = dtype::f64;

std::vector<double> values(const tensor& input) {
  return {input.values<double>().begin(), input.values<double>().end()};
}

// An array, and the flow after its last op.
struct array {
  edge handle, flow;

  array(graph& g, operand size, const tensor_array_v3_options& options = {}) {
    auto created = tensor_array_v3(g, size, f64, options);
    handle = created.handle;
    flow = created.flow;
  }
  array(edge handle_edge, edge flow_edge) : handle(handle_edge), flow(flow_edge) {}

  void write(operand index, operand value) {
    flow = tensor_array_write_v3(handle, index, value, flow);
  }
  edge read(operand index) const { return tensor_array_read_v3(handle, index, flow, f64); }
  edge gather(operand indices) const { return tensor_array_gather_v3(handle, indices, flow, f64); }
};

struct fixture {
  watchdog watch;
  graph_builder g;
  edge x = g.placeholder(f64, {2}, "x");
  edge n = g.placeholder(dtype::i32, {}, "n");
  session s = session::local();

  std::vector<double> values_at(edge output, std::vector<double> where, int iterations) {
    return values(s.fetch(output, {{x, tensor::vector(where)}, {n, iterations}}));
  }

  // The gradient of the sum of y equals the differences.
  void check_gradient(edge y, int iterations) {
    INFO("turns " << iterations);
    auto total = sum(y);
    auto dx = g.gradients(total, {x})[0];
    REQUIRE(dx.node);
    std::vector<double> where{0.7, -1.2};
    auto computed = values_at(dx, where, iterations);
    for (size_t i = 0; i < where.size(); ++i) {
      constexpr double step = 1e-5;
      auto above = where, below = where;
      above[i] += step;
      below[i] -= step;
      auto slope =
          (values_at(total, above, iterations)[0] - values_at(total, below, iterations)[0]) /
          (2 * step);
      CHECK(computed[i] == Approx(slope).epsilon(1e-6).margin(1e-7));
    }
  }
};

const tensor_array_v3_options kept_options{.element_shape = {2}, .clear_after_read = false};
const tensor_array_v3_options pairs{.element_shape = {2}};

} // namespace

// -- gradients ------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "the gradient of a loop's writes to a captured array is right") {
  array a{g, n, pairs};
  auto loop_end = while_loop(
      {g.constant(0), x, a.flow}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        array inner_array{a.handle, v[2]};
        inner_array.write(v[0], v[1] * x);
        return list{v[0] + 1, sin(v[1]), inner_array.flow};
      });
  a.flow = loop_end[2];
  auto y = a.gather(range(g, 0, n, 1));
  for (int iterations : {1, 3})
    check_gradient(y * y, iterations);
}

TEST_CASE_METHOD(fixture,
                 "the gradient of a loop that reads one array and writes another is right") {
  array a{g, 4, kept_options};
  a.flow = tensor_array_unpack(a.handle, pack({x, x * x, exp(x), x * 3.0}), a.flow);
  array b{g, 0, {.element_shape = {2}, .dynamic_size = true}};
  auto loop_end = while_loop(
      {g.constant(0), g.constant(tensor::from_values<double>({2}, {1, 2})), a.handle, b.handle,
       b.flow},
      [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        array from{v[2], a.flow}, target{v[3], v[4]};
        auto state = v[1] * 0.5 + from.read(v[0]) * from.read(g.constant(0));
        target.write(v[0], sin(state));
        return list{v[0] + 1, state, v[2], v[3], target.flow};
      });
  b.flow = loop_end[4];
  for (int iterations : {1, 4}) {
    check_gradient(concatenate({b.gather(range(g, 0, n, 1)), expand_dims(loop_end[1], 0)}, 0),
                   iterations);
    check_gradient(tensor_array_pack(b.handle, b.flow, f64), iterations);
  }
}

TEST_CASE_METHOD(fixture, "the gradient through arrays that each iteration creates is right") {
  auto loop_end = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        array inner_array{g, 2, pairs};
        inner_array.write(0, v[1] * x);
        inner_array.write(1, cos(v[1]));
        return list{v[0] + 1, inner_array.read(1) + inner_array.read(0) * 0.5};
      });
  for (int iterations : {0, 1, 4})
    check_gradient(loop_end[1], iterations);
}

TEST_CASE_METHOD(fixture, "the gradient of nested loops and branches over one array is right") {
  array a{g, 9, kept_options};
  auto outer = while_loop(
      {g.constant(0), a.flow}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto inner = while_loop(
            {g.constant(0), v[1]}, [&](auto& w) { return less(w[0], 3); },
            [&](auto& w) {
              auto position = v[0] * 3 + w[0];
              auto flow = cond(
                  equal(w[0], 1),
                  [&] {
                    array inner_array{a.handle, w[1]};
                    inner_array.write(position, x * x * cast(position, f64));
                    return inner_array.flow;
                  },
                  [&] {
                    array inner_array{a.handle, w[1]};
                    inner_array.write(position, sin(x) + cast(w[0], f64));
                    return inner_array.flow;
                  });
              return list{w[0] + 1, flow};
            });
        return list{v[0] + 1, inner[1]};
      });
  a.flow = outer[1];
  auto gathered = a.gather(range(g, 0, n * 3, 1));
  for (int iterations : {1, 3})
    check_gradient(gathered * gathered, iterations);
}

TEST_CASE_METHOD(fixture, "the gradient of functions with handle arguments is right") {
  auto fill = define(g, "fill", {{dtype::variant, {}}, {dtype::f32, {}}, {f64, {2}}}, [&](auto& v) {
    array inner_array{v[0], v[1]};
    inner_array.write(0, v[2] * v[2]);
    inner_array.write(1, sin(v[2]));
    return list{v[0], inner_array.flow};
  });
  array a{g, 2, kept_options};
  auto filled = call(g, fill, {a.handle, a.flow, x});
  array b{filled[0], filled[1]};
  check_gradient(b.gather({1, 0, 1}) * b.read(0), 0);
}

TEST_CASE_METHOD(fixture, "gradients of splits, joined rows and repeated reads are right") {
  array a{g, 3, {.clear_after_read = false}};
  auto rows = concatenate({x * x, sin(x), x}, 0);
  a.flow =
      tensor_array_split_v3(a.handle, rows, g.constant(tensor::vector<int64_t>({1, 0, 5})), a.flow);
  auto joined = tensor_array_concat_v3(a.handle, a.flow, f64).value;
  auto product = a.read(2) * a.read(2);
  check_gradient(concatenate({joined * joined, product, a.read(0)}, 0), 0);
}

TEST_CASE_METHOD(fixture, "arrays of lists have gradients, which are lists") {
  auto created = tensor_array_v3(
      g, 2, dtype::variant,
      {.element_shape = shape{}, .clear_after_read = false, .tensor_array_name = "lists"});
  auto dims = g.constant(tensor::vector<int32_t>({2}));
  auto pair_list = tensor_list_from_tensor(pack({x * x, sin(x), x}), dims);
  auto flow = tensor_array_write_v3(created.handle, 1, pair_list, created.flow);
  auto read = [&](int index) {
    auto read_list = tensor_array_read_v3(created.handle, index, flow, dtype::variant);
    return tensor_list_stack(read_list, dims, f64, {.num_elements = 3});
  };
  check_gradient(read(1) * read(1) + read(1), 0);
  CHECK_THAT(error_text_of([&] {
               s.fetch(read(0), {{x, {1.0, 2.0}}});
             }),
             Contains("how long a list of zeros"));
}

TEST_CASE_METHOD(fixture, "gradients of gradients use arrays of their own") {
  array a{g, 2, kept_options};
  a.write(0, x * x * x);
  a.write(1, x * x);
  auto y = sum(a.read(0) * a.read(1)); // x^5
  auto first = g.gradients(y, {x})[0], second = g.gradients(first, {x})[0],
       third = g.gradients(second, {x})[0];
  CHECK(values_at(first, {2, 1}, 0) == std::vector{80.0, 5.0});
  CHECK(values_at(second, {2, 1}, 0) == std::vector{160.0, 20.0});
  CHECK(values_at(third, {2, 1}, 0) == std::vector{240.0, 60.0});
  // Sums have gradients as well, also of elements that are read twice.
  auto z = sum(a.read(0) * a.read(0) + a.read(0)); // x^6 + x^3
  auto slope = g.gradients(z, {x})[0], bend = g.gradients(slope, {x})[0];
  CHECK(values_at(slope, {2, 1}, 0) == std::vector{204.0, 9.0});
  CHECK(values_at(bend, {2, 1}, 0) == std::vector{492.0, 36.0});
  // Two gradients of one graph do not add up in one array.
  auto second_gradient = g.gradients(y * 2.0, {x})[0];
  auto results = s.run({{x, {2.0, 1.0}}, {n, 0}}, {first, second_gradient});
  CHECK(values(results[0]) == std::vector{80.0, 5.0});
  CHECK(values(results[1]) == std::vector{160.0, 10.0});
}

TEST_CASE_METHOD(fixture, "gradients within a loop and outside it do not share an array") {
  array a{g, 1, kept_options};
  a.write(0, x * x);
  auto read = a.read(0);
  auto outside = g.gradients(sum(read), {x})[0];
  auto loop_end = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        array inner_array{g, 1, kept_options};
        inner_array.write(0, v[1] * v[1]);
        // 4 v^3.
        auto slope = g.gradients(sum(inner_array.read(0) * inner_array.read(0)), {v[1]})[0];
        return list{v[0] + 1, v[1] - slope * 0.01};
      });
  CHECK(values_at(outside, {2, 1}, 0) == std::vector{4.0, 2.0});
  CHECK(values_at(loop_end[1], {1, 2}, 1)[0] == Approx(0.96));
  CHECK(values_at(loop_end[1], {1, 2}, 1)[1] == Approx(1.68));
  check_gradient(loop_end[1], 2);
}

TEST_CASE_METHOD(fixture, "elements that are never read have a gradient of zeros") {
  array a{g, 2, pairs};
  a.write(0, x * 2.0);
  a.write(1, x * 3.0);
  auto dx = g.gradients(sum(a.read(1)), {x})[0];
  CHECK(values_at(dx, {1, 1}, 0) == std::vector{3.0, 3.0});
}

// -- values ---------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture,
                 "written and read elements do not change when other tensors are changed") {
  auto w = g.variable(tensor::from_values<double>({2}, {1, 2}), "w");
  s.run(g.initializer());
  array a{g, 3, kept_options};
  auto fresh = x * 2.0;
  a.write(0, identity(w));
  a.write(1, fresh);
  a.write(2, x);
  edge before, change, overwritten;
  {
    auto order = g.after({a.flow.node});
    overwritten = exp(neg(fresh)); // must not reuse the memory of `fresh`
    change = assign_add(w, x);
  }
  {
    auto order = g.after({change.node, overwritten.node});
    before = concatenate({a.read(0), a.read(1), a.read(2)}, 0);
    auto changed = sqrt(abs(a.read(1) + 0.0)); // the element that is read is not overwritten
    auto after_scope = g.after({changed.node, before.node});
    before = concatenate({before, a.read(1)}, 0);
  }
  for (int i = 0; i < 3; ++i) {
    auto results = s.run({{x, {10.0, 20.0}}, {n, 0}}, {before, overwritten});
    CHECK(values(results[0]) ==
          std::vector{1.0 + i * 10, 2.0 + i * 20, 20.0, 40.0, 10.0, 20.0, 20.0, 40.0});
  }
}

TEST_CASE_METHOD(fixture, "sums of gradients lie in memory of their own") {
  array a{g, 1, kept_options};
  a.write(0, x);
  auto gradient_array = tensor_array_grad_v3(a.handle, a.flow, "mine");
  auto written = x * 3.0;
  array sums{gradient_array.grad_handle, gradient_array.flow_out};
  sums.write(0, written);
  sums.write(0, x);
  sums.write(0, x);
  auto total = sums.read(0);
  auto order = g.after({total.node});
  auto results = s.run({{x, {1.0, 2.0}}, {n, 0}}, {total, identity(written), identity(x)});
  CHECK(values(results[0]) == std::vector{5.0, 10.0});
  CHECK(values(results[1]) == std::vector{3.0, 6.0});
  CHECK(values(results[2]) == std::vector{1.0, 2.0});
}

TEST_CASE_METHOD(fixture, "each step and each iteration has arrays of its own") {
  array a{g, 1, pairs};
  a.write(0, x);
  auto y = a.read(0) + cast(n, f64);
  auto step = s.prepare({x, n}, {y});
  std::vector<std::thread> threads;
  std::atomic<int> wrong_results{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        auto results = step.run({tensor::vector<double>({t * 1.0, i * 1.0}), tensor::scalar(i)});
        wrong_results += values(results[0]) != std::vector{t * 1.0 + i, i * 2.0};
      }
    });
  for (auto& worker_thread : threads)
    worker_thread.join();
  CHECK(wrong_results == 0);
}

TEST_CASE_METHOD(fixture, "concurrent writes to one array lose no element") {
  constexpr int count = 40;
  array a{g, 0, {.element_shape = {2}, .dynamic_size = true, .clear_after_read = false}};
  auto multiple = [&](int i) { return x * double(i); };
  list flows;
  for (int i = 0; i < count; ++i) {
    auto heavy = multiple(i);
    for (int k = 0; k < 3; ++k)
      heavy = neg(neg(heavy));
    flows.push_back(tensor_array_write_v3(a.handle, (i * 7) % count, heavy, a.flow));
  }
  a.flow = add_n(flows);
  auto gathered = a.gather(range(g, 0, count, 1));
  auto gradient = g.gradients(sum(gathered), {x})[0];
  for (int round = 0; round < 20; ++round) {
    auto results = s.run({{x, {1.0, 2.0}}, {n, 0}}, {gathered, gradient});
    for (int i = 0; i < count; ++i)
      REQUIRE(results[0].data<double>()[2 * ((i * 7) % count)] == i);
    CHECK(values(results[1]) == std::vector{780.0, 780.0});
  }
}

// -- stacks and handles ---------------------------------------------------------------------------

TEST_CASE_METHOD(fixture,
                 "a stack carries the values of one loop to another one, in reverse order") {
  auto stack = new_stack_v2(g, -1, f64);
  auto pushed_loop = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, stack_push_v2(stack, v[1]) * 2.0};
      });
  auto order = g.after({pushed_loop[0].node});
  auto popped_loop = while_loop(
      {g.constant(0), zeros_like(x)}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto popped = ensure_shape(stack_pop_v2(stack, f64), {2});
        return list{v[0] + 1, v[1] * 10.0 + popped};
      });
  CHECK(values_at(popped_loop[1], {1, 3}, 3) == std::vector{421.0, 1263.0});
}

TEST_CASE_METHOD(fixture, "stacks and arrays keep handles, but never their own") {
  array a{g, 1, kept_options};
  a.write(0, x);
  auto stack = new_stack_v2(g, 5, dtype::variant, "keeper"),
       other_stack = new_stack_v2(g, 5, dtype::variant, "other");
  auto pushed = stack_push_v2(stack, a.handle);
  auto order = g.after({pushed.node});
  auto popped = stack_pop_v2(stack, dtype::variant);
  CHECK(values_at(tensor_array_read_v3(popped, 0, a.flow, f64), {3, 4}, 0) ==
        std::vector{3.0, 4.0});

  CHECK_THROWS_WITH(s.run(stack_push_v2(other_stack, other_stack, "itself").node),
                    Contains("StackPushV2 'itself'") && Contains("stack 'other' cannot keep"));
  auto second_push = stack_push_v2(other_stack, stack);
  CHECK_THROWS_WITH(s.run(second_push.node), Contains("cannot keep")); // it has a value already
  auto outer_array = tensor_array_v3(g, 1, dtype::variant, "within");
  auto flow = tensor_array_write_v3(outer_array.handle, 0, outer_array.handle, outer_array.flow);
  CHECK_THROWS_WITH(s.run(flow.node), Contains("TensorArray 'within' cannot keep"));
}

TEST_CASE_METHOD(fixture, "a handle can be neither fetched nor sent") {
  array a{g, 1, {.element_shape = {2}, .tensor_array_name = "outputs"}};
  CHECK_THROWS_WITH(s.fetch(a.handle), Contains("TensorArrayV3") &&
                                           Contains("TensorArray 'outputs'") &&
                                           Contains("cannot be fetched"));
  auto list_edge = tensor_list_push_back(
      empty_tensor_list(g.constant(tensor::vector<int32_t>({})), -1, dtype::variant), a.handle);
  CHECK_THROWS_WITH(s.fetch(list_edge), Contains("cannot be fetched"));

  class some_object final : public shared_object {
    std::string description() const override { return "TensorArray 'here'"; }
  };
  auto handle = *tensor::make(dtype::variant, shape{});
  handle.data<tensor_list>()->object = std::make_shared<some_object>();
  auto payload = to_payload(handle);
  REQUIRE_FALSE(payload);
  CHECK_THAT(payload.status().message(),
             Contains("TensorArray 'here'") && Contains("cannot be sent"));
  auto variant_tensor = *tensor::make(dtype::variant, shape{});
  REQUIRE(variant_tensor.data<tensor_list>()->admit(handle));
  variant_tensor.data<tensor_list>()->items.push_back(handle);
  CHECK_FALSE(to_payload(variant_tensor));
  CHECK(to_string(handle).find("TensorArray 'here'") != std::string::npos);
}

TEST_CASE_METHOD(fixture, "handles are written with TensorFlow's ops, and read again") {
  array a{g, n, pairs};
  auto handle = identity(identity(a.handle));
  auto loop_end = while_loop(
      {g.constant(0), a.flow, handle}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto flow = cond(
            greater(v[0], 0), [&] { return tensor_array_write_v3(v[2], v[0], x, v[1]); },
            [&] { return tensor_array_write_v3(a.handle, v[0], x * 5.0, v[1]); });
        return list{v[0] + 1, flow, v[2]};
      });
  identity(array(loop_end[2], loop_end[1]).gather({1, 0}), "y");
  auto text = write_graph_def(g, graph_def_format::text);
  REQUIRE(text);
  CHECK_THAT(*text, Contains("DT_RESOURCE") && !Contains("DT_VARIANT"));
  graph_builder rebuilt;
  REQUIRE(read_graph_def_text(*text, rebuilt));
  auto find = [&](const char* name) { return *rebuilt.find_edge(name); };
  auto fetched = s.fetch(find("y"), {{find("x"), {1.0, 2.0}}, {find("n"), 2}});
  CHECK(values(fetched) == std::vector{1.0, 2.0, 5.0, 10.0});
}

TEST_CASE_METHOD(fixture, "handles of another resource are refused by name") {
  array a{g, 1, kept_options};
  auto stack = new_stack_v2(g, -1, f64, "pile");
  auto items = empty_tensor_list(g.constant(tensor::vector<int32_t>({2})), -1, f64);
  auto fails = [&](edge output) {
    return error_text_of([&] { s.fetch(output, {{x, {1.0, 2.0}}, {n, 0}}); });
  };
  CHECK_THAT(fails(tensor_array_read_v3(stack, 0, a.flow, f64)),
             Contains("got that of stack 'pile'"));
  CHECK_THAT(fails(stack_pop_v2(a.handle, f64)), Contains("must be that of a stack"));
  CHECK_THAT(fails(tensor_array_size_v3(items, a.flow)),
             Contains("handle must be that of a TensorArray"));
  CHECK_THAT(fails(tensor_list_length(a.handle)), Contains("must be a list, got a handle"));
  CHECK_THAT(fails(tensor_array_read_v3(a.handle, 0, a.flow, dtype::f32)),
             Contains("dtype says f32"));
}

TEST_CASE_METHOD(fixture, "sizes and positions are limited") {
  auto fails = [&](edge output) {
    return error_text_of([&] { s.fetch(output, {{x, {1.0, 2.0}}, {n, 0}}); });
  };
  CHECK_THAT(fails(array(g, -1).flow), Contains("size must not be negative"));
  CHECK_THAT(fails(array(g, INT32_MAX).flow),
             Contains("resource_exhausted") && Contains("at most"));
  array a{g, 0, {.dynamic_size = true}};
  auto other_array = a;
  other_array.write(INT32_MAX, x);
  CHECK_THAT(fails(other_array.flow), Contains("resource_exhausted"));
  auto negative = a;
  negative.write(-3, x);
  CHECK_THAT(fails(negative.flow), Contains("no element -3"));
  auto gradient = tensor_array_grad_v3(a.handle, a.flow, "mine");
  CHECK_THAT(fails(tensor_array_read_v3(gradient.grad_handle, INT32_MAX, gradient.flow_out, f64)),
             Contains("is not known: write it first"));
  // The same for axes.
  array pair_array{g, 1, pairs};
  auto wide = tensor_array_grad_with_shape(pair_array.handle, pair_array.flow,
                                           {1, 1, 1, 1, 1, 1, 1, 1}, "wide");
  CHECK_THAT(fails(wide.flow_out), Contains("axes"));
  CHECK_THAT(error_text_of([&] {
               tensor_array_gather_v3(a.handle, {0}, a.flow, f64,
                                      {.element_shape = {1, 1, 1, 1, 1, 1, 1, 2}});
             }),
             Contains("axes"));
  // One source has one array, also if other elements precede.
  auto first = tensor_array_grad_v3(pair_array.handle, pair_array.flow, "mine");
  auto shaped_gradient =
      tensor_array_grad_with_shape(pair_array.handle, first.flow_out, {3}, "mine");
  CHECK_THAT(fails(shaped_gradient.flow_out), Contains("give another source"));
}

} // namespace troupe::test::tensor_array_test
