// Loops that run without tensors (runtime/program/fused_loop.hpp) give the same results as blocks.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/runtime/program/fused_loop.hpp"
#include "troupe/troupe.hpp"

#include <random>
#include <sstream>

namespace troupe::test::fused_loop_test {
namespace {

using list = std::vector<edge>;
using list_of_tensors = std::vector<tensor>;

bool is_fused(edge from_loop, const std::vector<feed>& feeds = {}) {
  auto functions = functions_of(*from_loop.node);
  std::vector<tensor> initial;
  for (const auto& input_edge : from_loop.node->inputs())
    initial.push_back(input_edge.node->output_is_ref(input_edge.index)
                          ? tensor{}
                          : session::local().fetch(input_edge, feeds));
  return fused_loop::write(*functions[0]->body, *functions[1]->body, initial) != nullptr;
}

template <class T>
T value(const tensor& input) {
  return *input.data<T>();
}

session with_blocks() { return session::local({.insight = {.region_per_node = true}}); }

// A loop that runs while its first variable is less than 10.
list up_to_ten(const list& initial, const std::function<list(const list&)>& body) {
  return while_loop(
      initial, [](auto& v) { return less(v[0], 10); }, body);
}

} // namespace

TEST_CASE("loops of arithmetic on small values are fused") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2, -1}, "x");
  auto n = g.placeholder(dtype::i32, {}, "n");
  const std::vector<feed> feeds{{x, tensor::from_values(shape{2, 1}, std::vector{1.0f, 2.0f})},
                                {n, 3}};
  CHECK(is_fused(up_to_ten({g.constant(0)}, [](auto& v) { return list{v[0] + 1}; })[0]));
  CHECK(is_fused(up_to_ten({g.constant(0), x},
                           [](auto& v) {
                             return list{v[0] + 1, tanh(v[1] * 2.0f)};
                           })[0],
                 feeds));
  CHECK(is_fused(up_to_ten({g.constant(0), n},
                           [&](auto& v) {
                             return list{v[0] + 1, floor_div(v[1], n) + floor_mod(v[1], 7)};
                           })[0],
                 feeds));
  CHECK(is_fused(up_to_ten({g.constant(0), g.constant(0.0f)}, [&](auto& v) {
    auto half = cond(
        less(v[0], 5), [&] { return v[1] * 0.5f; }, [&] { return v[1] + cast(v[0], dtype::f32); });
    return list{v[0] + 1, select_v2(less(half, 1.0f), half, v[1])};
  })[0]));
}

TEST_CASE("loops with large values, changing shapes, other ops or effects are not fused") {
  graph_builder g;
  auto large = g.placeholder(dtype::f32, {2000}, "large");
  auto square = g.placeholder(dtype::f32, {3, 3}, "square");
  const std::vector<feed> feeds{{large, tensor::from_values(shape{2000}, std::vector<float>(2000))},
                                {square, tensor::from_values(shape{3, 3}, std::vector<float>(9))}};
  auto w = g.variable(0.0f, "w");
  auto is_fused_with = [&](edge initial, const std::function<edge(edge)>& f) {
    return is_fused(up_to_ten({g.constant(0), initial},
                              [&](auto& v) {
                                return list{v[0] + 1, f(v[1])};
                              })[0],
                    feeds);
  };
  CHECK(is_fused_with(square, [](edge v) { return v + 1.0f; }));
  CHECK_FALSE(is_fused_with(large, [](edge v) { return v + 1.0f; }));
  CHECK_FALSE(is_fused_with(square, [](edge v) { return matmul(v, v); }));
  CHECK_FALSE(is_fused_with(g.constant(0.0f), [&](edge v) { return v + assign_add(w, 1.0f); }));
  CHECK_FALSE(is_fused_with(g.constant(0.0f), [&](edge v) { return v + square; }));
  CHECK_FALSE(is_fused_with(square, [&](edge v) {
    return v + random_uniform(g, {3, 3}, dtype::f32);
  }));
  CHECK_FALSE(is_fused_with(g.constant(0), [](edge v) { return floor_div(v, 0); }));
}

TEST_CASE("a fused loop passes on values that it does not read, of any type") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto word_input = g.placeholder(dtype::string, {}, "word");
  auto results = up_to_ten({g.constant(0), x, word_input}, [](auto& v) {
    return list{v[0] + 3, v[1], v[2]};
  });
  const std::vector<feed> feeds{{x, tensor::vector(std::vector<float>(5000, 1.0f))},
                                {word_input, tensor::scalar(std::string{"hello"})}};
  CHECK(is_fused(results[0], feeds));
  auto outputs = session::local().run(feeds, results);
  CHECK(value<int32_t>(outputs[0]) == 12);
  CHECK(outputs[1].elements() == 5000);
  CHECK(value<std::string>(outputs[2]) == "hello");
}

TEST_CASE("one loop may run with many shapes, also with some that cannot be fused") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto results = up_to_ten({g.constant(0), x}, [](auto& v) { return list{v[0] + 1, v[1] * 2.0f}; });
  auto s = session::local();
  for (int round = 0; round < 3; ++round)
    for (size_t n : {1u, 2u, 3u, 5u, 7u, 11u, 5000u, 6000u, 7000u}) {
      auto fetched = s.fetch(results[1], {{x, tensor::vector(std::vector<float>(n, 1.5f))}});
      REQUIRE(fetched.elements() == static_cast<int64_t>(n));
      CHECK(fetched.values<float>().front() == 1536);
      CHECK(fetched.values<float>().back() == 1536);
    }
}

TEST_CASE("a first shape that cannot be fused does not affect later shapes") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto results = up_to_ten({g.constant(0), x}, [](auto& v) { return list{v[0] + 1, v[1] * 2.0f}; });
  fused_loops loops{*results[0].node};
  auto variables = [](size_t n) {
    return list_of_tensors{tensor::scalar(0), tensor::vector(std::vector<float>(n, 1.5f))};
  };
  for (int i = 0; i < 5; ++i)
    CHECK_FALSE(loops.find(variables(5000)));
  int runs = 1;
  while (!loops.find(variables(3)) && runs < 100)
    ++runs;
  CHECK(runs < 10);
  CHECK(loops.find(variables(3)));
  // A loop whose number is large every second time.
  fused_loops in_turn{*results[0].node};
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(in_turn.find(variables(5000)));
    (void)in_turn.find(variables(3));
  }
  CHECK(in_turn.find(variables(3)));
}

TEST_CASE("variables of a fused loop may change positions, and several may become one") {
  graph_builder g;
  auto results =
      up_to_ten({g.constant(0), g.constant(1), g.constant(2), g.constant(3)}, [](auto& v) {
        return list{v[0] + 1, v[2], v[1], v[1] + v[2]};
      });
  auto sums = up_to_ten({g.constant(0), g.constant(1), g.constant(1)}, [](auto& v) {
    auto next = v[1] + v[2]; // Fibonacci numbers; the update uses the old value
    return list{v[0] + 1, next, v[1]};
  });
  auto constant_results = up_to_ten({g.constant(0), g.constant(5), g.constant(6)}, [](auto& v) {
    auto next = v[0] + 1;
    return list{next, next, v[0]};
  });
  for (auto* loop_edges : {&results, &sums, &constant_results})
    CHECK(is_fused(loop_edges->front()));
  auto s = session::local();
  auto numbers = [&](const list& numbers_of) {
    std::vector<int32_t> values_found;
    for (const auto& output : s.run({}, numbers_of))
      values_found.push_back(value<int32_t>(output));
    return values_found;
  };
  CHECK(numbers(results) == std::vector{10, 1, 2, 3});
  CHECK(numbers(sums) == std::vector{10, 144, 89});
  CHECK(numbers(constant_results) == std::vector{10, 10, 9});
}

TEST_CASE("an error in a fused loop names the node and the iteration") {
  graph_builder g;
  auto d = g.placeholder(dtype::i32, {}, "d");
  auto results = while_loop(
      {g.constant(0), g.constant(100)}, [](auto& v) { return less(v[0], 100); },
      [&](auto& v) {
        return list{v[0] + 1, floor_div(v[1], d - v[0], "quotient")};
      },
      {.name = "divide"});
  CHECK(is_fused(results[0], {{d, 1000}}));
  auto s = session::local();
  CHECK(value<int32_t>(s.fetch(results[1], {{d, 1000}})) == 0);
  auto error_text = error_text_of([&] { s.fetch(results[1], {{d, 7}}); });
  INFO(error_text);
  CHECK(error_text.find("'divide'") != std::string::npos);
  CHECK(error_text.find("iteration 7]") != std::string::npos);
  CHECK(error_text.find("quotient") != std::string::npos);
}

TEST_CASE("a fused loop without an end is stopped by its deadline") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, {}, "x");
  auto inner = while_loop(
      {x}, [](auto& v) { return less(v[0], 10); },
      [](auto& v) {
        auto results = while_loop(
            {v[0]}, [](auto& w) { return less(w[0], 5); }, [](auto& w) { return list{w[0] * 1}; });
        return list{results[0] + 1};
      });
  CHECK(is_fused(inner[0], {{x, 6}}));
  auto s = session::local();
  CHECK(value<int32_t>(s.fetch(inner[0], {{x, 6}})) == 10);
  try {
    s.run({{x, 1}}, {inner[0]}, {}, {.timeout = std::chrono::milliseconds{50}});
    FAIL("it must not end");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::deadline_exceeded);
  }
}

TEST_CASE("shapes that a function within a fused loop declares hold when it runs") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto results = while_loop(
      {g.constant(0), x}, [](auto& v) { return less(v[0], 3); },
      [](auto& v) {
        auto inner = while_loop(
            {v[0], v[1]}, [](auto& w) { return less(w[0], 2); },
            [](auto& w) {
              return list{w[0] + 1, w[1] * 2.0f};
            },
            {.shapes = {shape{}, shape{3}}});
        return list{v[0] + 1, inner[1]};
      });
  for (auto* make : {+[] { return session::local(); }, +[] { return with_blocks(); }}) {
    auto s = make();
    CHECK(value<float>(s.fetch(results[1], {{x, {1.0f, 2.0f, 3.0f}}})) == 8);
    auto error_text = error_text_of([&] {
      s.fetch(results[1], {{x, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}}});
    });
    CHECK(error_text.find("must have shape [3], got [5]") != std::string::npos);
  }
}

TEST_CASE("variables that are only passed on take no memory of a fused loop") {
  graph_builder g;
  list initial{g.constant(0)};
  for (int i = 0; i < 40; ++i)
    initial.push_back(fill(g, {1024}, static_cast<float>(i)));
  auto results = up_to_ten(initial, [](auto& v) {
    auto next = v;
    next[0] = v[0] + 1;
    return next;
  });
  CHECK(is_fused(results[0]));
  CHECK(value<float>(session::local().fetch(results[40])) == 39);
}

TEST_CASE("functions that call others twice and do nothing are not expanded without limit") {
  graph_builder g;
  auto f = define(g, "f0", {argument{dtype::i32, shape{}}}, [](auto& v) { return list{v[0]}; });
  for (int i = 1; i < 40; ++i)
    f = define(g, concat("f", i), {argument{dtype::i32, shape{}}},
               [&](auto& v) { return call(g, f, call(g, f, {v[0]})); });
  auto results =
      up_to_ten({g.constant(0)}, [&](auto& v) { return list{call(g, f, {v[0]})[0] + 1}; });
  CHECK_FALSE(is_fused(results[0]));
}

TEST_CASE("nodes that are added to a function after its end do not run") {
  graph_builder g;
  auto p = g.placeholder(dtype::boolean, {}, "p");
  auto x = g.placeholder(dtype::f32, {}, "x");
  edge inside;
  auto y = cond(
      p,
      [&] {
        inside = x * 2.0f;
        return inside + 1.0f;
      },
      [&] { return x; });
  for (int i = 0; i < 200; ++i)
    inside = inside + 1.0f;
  CHECK(value<float>(session::local().fetch(y, {{p, true}, {x, 3.0f}})) == 7);
}

TEST_CASE("with check_numerics a fused loop reports the iteration") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto results = up_to_ten({g.constant(0), x}, [](auto& v) {
    return list{v[0] + 1, log(v[1] - 1.0f)};
  });
  auto s = session::local({.insight = {.check_numerics = true}});
  auto error_text = error_text_of([&] { s.fetch(results[1], {{x, 5.0f}}); });
  INFO(error_text);
  CHECK(error_text.find("iteration 2]") != std::string::npos);
}

// -- random loops ---------------------------------------------------------------------------------

namespace {

// Draws a loop over numbers of several types and shapes, with nested branches, cases, calls and
// loops.
class loop_drawer {
public:
  loop_drawer(graph_builder& g, uint64_t seed) : g_(g), random_(seed) {}

  list draw() {
    list initial{g_.constant(0)};
    for (const auto& initial_edge : start())
      initial.push_back(initial_edge);
    return loop(initial, 2);
  }

private:
  int below(int n) { return std::uniform_int_distribution<int>{0, n - 1}(random_); }

  list start() {
    list initial;
    std::vector<shape> shapes{shape{}, shape{3}, shape{2, 3}};
    for (const auto& dims : shapes) {
      auto n = static_cast<size_t>(dims.elements());
      std::vector<int32_t> i(n);
      std::vector<int64_t> l(n);
      std::vector<float> f(n);
      for (size_t k = 0; k < n; ++k) {
        i[k] = below(100) - 50;
        l[k] = below(1000);
        f[k] = 0.125f * static_cast<float>(below(100) - 50);
      }
      initial.push_back(g_.constant(tensor::from_values(dims, i)));
      initial.push_back(g_.constant(tensor::from_values(dims, l)));
      initial.push_back(g_.constant(tensor::from_values(dims, f)));
    }
    return initial;
  }

  edge pick(const list& from, dtype type, const partial_shape& dims) {
    list fit;
    for (const auto& candidate : from)
      if (candidate.type() == type && candidate.dims() == dims)
        fit.push_back(candidate);
    return fit[static_cast<size_t>(below(static_cast<int>(fit.size())))];
  }
  edge any_edge(const list& from) {
    return from[static_cast<size_t>(below(static_cast<int>(from.size())))];
  }
  edge edge_like(const list& from, edge a) { return pick(from, a.type(), a.dims()); }
  edge number(const list& from) { return pick(from, dtype::i32, partial_shape{shape{}}); }

  // A value with the type and shape of an existing value, so that all types stay in use.
  edge formula(const list& from) {
    auto a = any_edge(from), b = edge_like(from, a);
    auto scalar = pick(from, a.type(), partial_shape{shape{}});
    switch (below(9)) {
      case 0: return a + b;
      case 1: return a - scalar;
      case 2: return a * b;
      case 3: return maximum(scalar, a);
      case 4: return select_v2(less(a, b), b, a);
      case 5: return a.type() == dtype::f32 ? tanh(a) : floor_mod(a, b); // may fail
      case 6: return a.type() == dtype::i32 ? cast(cast(a, dtype::f32), dtype::i32) : -a;
      case 7:
        return a.type() == dtype::f32 ? a * 0.5f + b : floor_mod(a, cast(g_.constant(7), a.type()));
      default: return minimum(a, b) + cast(number(from), a.type());
    }
  }

  // Changes some of the values.
  list changed(list values, size_t first, int depth) {
    auto visible = values;
    for (int n = 1 + below(4); n > 0; --n) {
      auto kind_of_change = below(depth > 0 ? 9 : 5);
      list changed_edges;
      if (kind_of_change < 5) {
        changed_edges = {formula(visible)};
      } else if (kind_of_change == 5 || kind_of_change == 6) {
        auto a = number(visible), x = any_edge(visible), y = any_edge(visible);
        auto branch = [&] {
          auto inner = changed(visible, visible.size(), depth - 1);
          return list{edge_like(inner, x), edge_like(inner, y)};
        };
        changed_edges = kind_of_change == 5
                            ? cond(less(a, number(visible)), branch, branch)
                            : switch_case(floor_mod(a, 4), {branch, branch, branch});
      } else if (kind_of_change == 7) {
        list initial{g_.constant(0), any_edge(visible), any_edge(visible)};
        changed_edges = loop(initial, depth - 1);
        changed_edges.erase(changed_edges.begin());
      } else {
        changed_edges = {edge_like(visible, any_edge(visible))};
      }
      for (const auto& changed_edge : changed_edges)
        visible.push_back(changed_edge);
    }
    for (size_t i = first; i < values.size(); ++i)
      if (below(3) > 0)
        values[i] = edge_like(visible, values[i]);
    if (first == values.size())
      return visible;
    return values;
  }

  // The body may be built again, and must be drawn alike each time.
  list loop(const list& initial, int depth) {
    auto iterations = below(6);
    auto seed = random_();
    return while_loop(
        initial, [&](auto& v) { return less(v[0], iterations); },
        [&](auto& v) {
          random_.seed(seed);
          auto visible = v;
          for (const auto& initial_edge : start())
            visible.push_back(initial_edge);
          auto next = changed(visible, visible.size(), depth);
          list results{v[0] + 1};
          for (size_t i = 1; i < v.size(); ++i)
            results.push_back(below(4) == 0 ? v[i] : edge_like(next, v[i]));
          return results;
        });
  }

  graph_builder& g_;
  std::mt19937_64 random_;
};

struct outcome {
  std::vector<tensor> values;
  error_kind kind = error_kind::internal;
  std::string message;
};

outcome outcome_of(session s, const list& loop_edges) {
  try {
    return {s.run({}, loop_edges), {}, {}};
  } catch (const error& e) {
    return {{}, e.kind(), e.what()};
  }
}

int check_loops(uint64_t first, uint64_t count) {
  int fused = 0;
  for (auto seed = first; seed < first + count; ++seed) {
    INFO("seed " << seed);
    graph_builder g;
    auto loop_edges = loop_drawer{g, seed}.draw();
    fused += is_fused(loop_edges[0]);
    auto expected = evaluator{g, small_device()}.run({}, loop_edges);
    auto fused_outcome = outcome_of(session::local(), loop_edges),
         block_outcome = outcome_of(with_blocks(), loop_edges);
    INFO(fused_outcome.message);
    REQUIRE(fused_outcome.values.size() == (expected ? expected->size() : 0));
    REQUIRE(block_outcome.values.size() == fused_outcome.values.size());
    if (!expected) {
      CHECK(fused_outcome.kind == expected.status().kind());
      CHECK(block_outcome.kind == expected.status().kind());
    }
    for (size_t i = 0; i < fused_outcome.values.size(); ++i) {
      INFO("output " << i << ": " << fused_outcome.values[i] << ", " << block_outcome.values[i]
                     << ", must be " << (*expected)[i]);
      REQUIRE(identical(fused_outcome.values[i], (*expected)[i]));
      REQUIRE(identical(block_outcome.values[i], (*expected)[i]));
    }
  }
  return fused;
}

} // namespace

TEST_CASE("random loops give the same results fused, in blocks and node by node") {
  CHECK(check_loops(1, 300) > 200);
}

TEST_CASE("many random loops give the same results fused, in blocks and node by node", "[slow]") {
  CHECK(check_loops(1000, 2000) > 1000);
}

} // namespace troupe::test::fused_loop_test
