// Branches, loops and functions of the public interface.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <pthread.h>

namespace troupe::test::control_flow_test {
namespace {

using list = std::vector<edge>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool takes_more_stack = true;
#else
constexpr bool takes_more_stack = false;
#endif

template <class T>
std::vector<T> values(const tensor& input) {
  return {input.values<T>().begin(), input.values<T>().end()};
}

template <class T>
T value(const tensor& input) {
  return *input.data<T>();
}

} // namespace

TEST_CASE("only the chosen branch runs, with its effects") {
  graph_builder g;
  auto v = g.variable(0.0f, "v"), w = g.variable(0.0f, "w");
  auto p = g.placeholder(dtype::boolean, {}, "p");
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = cond(
      p, [&] { return assign_add(v, x); }, [&] { return assign_add(w, x * 2); }, "choice");
  auto s = session::local();
  s.run(g.initializer());
  CHECK(value<float>(s.fetch(y, {{p, true}, {x, 3.0f}})) == 3);
  CHECK(value<float>(s.fetch(v)) == 3);
  CHECK(value<float>(s.fetch(w)) == 0);
  CHECK(value<float>(s.fetch(y, {{p, false}, {x, 3.0f}})) == 6);
  CHECK(value<float>(s.fetch(v)) == 3);
  CHECK(value<float>(s.fetch(w)) == 6);
}

TEST_CASE("branches without results have their effects") {
  graph_builder g;
  auto v = g.variable(0.0f, "v");
  auto p = g.placeholder(dtype::boolean, {}, "p");
  auto* choice = cond(
      p, [&] { assign(v, 1.0f); }, [&] { assign(v, 2.0f); });
  auto s = session::local();
  s.run(g.initializer());
  s.run(choice, {{p, false}});
  CHECK(value<float>(s.fetch(v)) == 2);
  s.run(choice, {{p, true}});
  CHECK(value<float>(s.fetch(v)) == 1);
}

TEST_CASE("unused nodes of a function do not run, so that they cannot fail") {
  graph_builder g;
  auto p = g.placeholder(dtype::boolean, {}, "p");
  auto x = g.placeholder(dtype::i32, {}, "x");
  auto chosen = cond(
      p,
      [&] {
        floor_div(x, x);
        return x + 1;
      },
      [&] { return floor_div(x, x); });
  auto results = while_loop(
      {x}, [](auto& v) { return less(v[0], 3); },
      [&](auto& v) {
        floor_div(v[0], x);
        return list{v[0] + 1};
      });
  for (const auto& passes_used : {pass_options{}, pass_options::none()}) {
    auto s = session::local({.passes = passes_used});
    CHECK(value<int32_t>(s.fetch(chosen, {{p, true}, {x, 0}})) == 1);
    CHECK_THROWS(s.fetch(chosen, {{p, false}, {x, 0}}));
    CHECK(value<int32_t>(s.fetch(results[0], {{x, 0}})) == 3);
  }
}

TEST_CASE("a case beyond the branches takes the last branch") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto y = switch_case(
      n, {[&] { return list{x + 1}; }, [&] { return list{x * x}; }, [&] { return list{-x}; }});
  auto s = session::local();
  auto value_for = [&](int32_t branch) {
    return values<float>(s.fetch(y[0], {{n, branch}, {x, {2.0f, 3.0f}}}));
  };
  CHECK(value_for(0) == std::vector{3.0f, 4.0f});
  CHECK(value_for(1) == std::vector{4.0f, 9.0f});
  CHECK(value_for(2) == std::vector{-2.0f, -3.0f});
  CHECK(value_for(7) == std::vector{-2.0f, -3.0f});
  CHECK(value_for(-1) == std::vector{-2.0f, -3.0f});
}

TEST_CASE("a loop computes until its condition fails") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto results = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, v[1] * 2 + x};
      });
  auto s = session::local();
  CHECK(values<float>(s.fetch(results[1], {{n, 3}, {x, {1.0f, -1.0f}}})) ==
        std::vector{15.0f, -15.0f});
  CHECK(values<float>(s.fetch(results[1], {{n, 0}, {x, {1.0f, -1.0f}}})) ==
        std::vector{1.0f, -1.0f});
  CHECK(value<int>(s.fetch(results[0], {{n, 10000}, {x, {0.0f}}})) == 10000);
}

TEST_CASE("loop variables may change positions and shapes") {
  graph_builder g;
  auto a = g.placeholder(dtype::f32, {}, "a"), b = g.placeholder(dtype::f32, {}, "b");
  auto results = while_loop(
      {g.constant(0), a, b, reshape(a, {1})}, [](auto& v) { return less(v[0], 3); },
      [](auto& v) {
        return list{v[0] + 1, v[2], v[1], concatenate(list{v[3], reshape(v[2], {1})}, 0)};
      });
  CHECK(results[3].dims() == partial_shape{-1});
  auto s = session::local();
  auto outputs = s.run({{a, 1.0f}, {b, 2.0f}}, results);
  CHECK(value<float>(outputs[1]) == 2);
  CHECK(value<float>(outputs[2]) == 1);
  CHECK(values<float>(outputs[3]) == std::vector{1.0f, 2.0f, 1.0f, 2.0f});
}

TEST_CASE("loops nest, also with branches") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  // The sum over i < n of the sum over j < i of j, where i is odd.
  auto results = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto inner_results = cond(
            equal(floor_mod(v[0], 2), 1),
            [&] {
              return while_loop(
                  {g.constant(0), v[1]}, [&](auto& w) { return less(w[0], v[0]); },
                  [&](auto& w) {
                    return list{w[0] + 1, w[1] + w[0]};
                  })[1];
            },
            [&] { return v[1]; });
        return list{v[0] + 1, inner_results};
      });
  auto s = session::local();
  for (int number : {0, 1, 5, 12}) {
    int expected = 0;
    for (int i = 1; i < number; i += 2)
      expected += i * (i - 1) / 2;
    CHECK(value<int>(s.fetch(results[1], {{n, number}})) == expected);
  }
}

TEST_CASE("a variable that a loop changes has another value in each iteration") {
  graph_builder g;
  auto v = g.variable(1.0f, "v");
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto results = while_loop(
      {g.constant(0), g.constant(0.0f)}, [&](auto& x) { return less(x[0], n); },
      [&](auto& x) {
        auto doubled = assign_add(v, v); // 2, 4, 8, ...
        return list{x[0] + 1, x[1] + doubled};
      });
  auto s = session::local();
  s.run(g.initializer());
  CHECK(value<float>(s.fetch(results[1], {{n, 4}})) == 2 + 4 + 8 + 16);
  CHECK(value<float>(s.fetch(v)) == 16);
}

TEST_CASE("a read in an iteration that does not depend on the update sees the value before it") {
  graph_builder g;
  auto v = g.variable(1.0f, "v");
  auto results = while_loop(
      {g.constant(0), g.constant(0.0f)}, [](auto& x) { return less(x[0], 3); },
      [&](auto& x) {
        assign_add(v, 10.0f);
        return list{x[0] + 1, x[1] + v};
      });
  auto s = session::local();
  s.run(g.initializer());
  CHECK(value<float>(s.fetch(results[1])) == 1 + 11 + 21);
}

TEST_CASE("a function is defined once and called several times") {
  graph_builder g;
  auto w = g.variable({2.0f, 3.0f}, "w");
  auto scaled = define(g, "scaled", {argument{dtype::f32, {-1}}}, [&](auto& v) {
    return list{v[0] * w, sum(v[0], {0})};
  });
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto first_call = call(g, scaled, {x}), second_call = call(g, scaled, {first_call[0]});
  auto s = session::local();
  s.run(g.initializer());
  auto results = s.run({{x, {1.0f, 10.0f}}}, {second_call[0], second_call[1]});
  CHECK(values<float>(results[0]) == std::vector{4.0f, 90.0f});
  CHECK(value<float>(results[1]) == 32);
}

TEST_CASE("a node that reads a call's result runs after all effects of the call") {
  for (auto constant : {false, true}) { // the branch is chosen at compile time, or in the step
    graph_builder g;
    auto v = g.variable(1.0f, "v");
    auto x = g.placeholder(dtype::f32, {}, "x");
    auto counting_function = define(g, "counts", {argument{dtype::f32, {}}}, [&](auto& a) {
      assign_add(v, 10.0f);
      return list{a[0] * 2};
    });
    auto p = g.placeholder(dtype::boolean, {}, "p");
    auto y = cond(
        constant ? g.constant(true) : p, [&] { return call(g, counting_function, {x})[0]; },
        [&] { return x; });
    auto reading_function = define(g, "looks", {argument{dtype::f32, {}}}, [&](auto& a) {
      return list{v * 100.0f, a[0]};
    });
    auto read_values = call(g, reading_function, {y}); // v * 100 does not depend on y
    // The second call comes after the first.
    auto after = call(g, counting_function, {read_values[1]})[0] + v;
    auto s = session::local();
    s.run(g.initializer());
    auto results = s.run({{x, 3.0f}, {p, true}}, {after, read_values[0]});
    CHECK(value<float>(results[0]) == 12 + 21);
    CHECK(value<float>(results[1]) == 1100);
  }
}

TEST_CASE("functions draw other random numbers than the surrounding graph and other functions") {
  graph_builder g;
  g.set_random_seed(7);
  auto draw = [&] { return random_uniform(g, {4}, dtype::f32); };
  auto one_draw = define(g, "one", {argument{dtype::f32, {}}}, [&](auto&) { return list{draw()}; });
  auto two = define(g, "two", {argument{dtype::f32, {}}}, [&](auto&) { return list{draw()}; });
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto s = session::local();
  auto results = s.run({{x, 0.0f}}, {draw(), call(g, one_draw, {x})[0], call(g, two, {x})[0]});
  CHECK(values<float>(results[0]) != values<float>(results[1]));
  CHECK(values<float>(results[0]) != values<float>(results[2]));
  CHECK(values<float>(results[1]) != values<float>(results[2]));
}

TEST_CASE("a function may call itself, with the variables that it was given") {
  graph_builder g;
  auto calls = g.variable(0, "calls");
  auto fibonacci = define_recursive(
      g, "fibonacci", {argument{dtype::i32, {}}, argument{calls}}, {dtype::i32},
      [&](auto& self, auto& v) {
        auto* noted = assign_add(v[1], 1).node;
        return list{cond(
            less(v[0], 2), [&] { return v[0]; },
            [&] {
              auto order = g.after({noted});
              return call(g, self, {v[0] - 1, v[1]})[0] + call(g, self, {v[0] - 2, v[1]})[0];
            })};
      });
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto y = call(g, fibonacci, {n, calls});
  auto s = session::local();
  s.run(g.initializer());
  CHECK(value<int>(s.fetch(y[0], {{n, 12}})) == 144);
  CHECK(value<int>(s.fetch(calls)) == 465);
  auto endless = error_text_of([&] {
    auto forever = define_recursive(g, "forever", {argument{dtype::i32, {}}}, {dtype::i32},
                                    [&](auto& self, auto& v) { return call(g, self, {v[0] + 1}); });
    s.fetch(call(g, forever, {n}, "deep")[0], {{n, 0}});
  });
  INFO(endless);
  auto hit_call_limit = endless.find("calls are nested more than 500 deep") != std::string::npos,
       hit_stack_limit = endless.find("the stack of the thread") != std::string::npos;
  CHECK((hit_call_limit || (takes_more_stack && hit_stack_limit)));
}

TEST_CASE("recursive calls fail before a small stack overflows") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto forever = define_recursive(g, "forever", {argument{dtype::i32, {}}}, {dtype::i32},
                                  [&](auto& self, auto& v) { return call(g, self, {v[0] + 1}); });
  auto deep = call(g, forever, {n}, "deep")[0];
  auto s = session::local({.threads = {.inter_op = 1}});
  std::string problem;
  std::function<void()> work = [&] { problem = error_text_of([&] { s.fetch(deep, {{n, 0}}); }); };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1024 * 1024);
  pthread_t thread;
  auto run = [](void* argument_pointer) -> void* {
    (*static_cast<std::function<void()>*>(argument_pointer))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  INFO(problem);
  CHECK(problem.find("the stack of the thread that runs them is used up") != std::string::npos);
}

TEST_CASE("an error in a loop names the node and the iteration") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto results = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], 10); },
      [&](auto& v) {
        return list{v[0] + 1, floor_div(100, n - v[0])};
      },
      {.name = "train"});
  auto s = session::local();
  auto text = error_text_of([&] { s.fetch(results[1], {{n, 7}}); });
  CHECK(text.find("'train'") != std::string::npos);
  CHECK(text.find("iteration 7]") != std::string::npos);
  CHECK(text.find("FloorDiv") != std::string::npos);
  CHECK(value<int>(s.fetch(results[1], {{n, 50}})) == 2);
}

TEST_CASE("an error below many nested loops names only the outermost ones") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto nested = define_recursive(
      g, "nested", {argument{dtype::i32, {}}}, {dtype::i32}, [&](auto& self, auto& v) {
        return list{cond(
            greater_equal(v[0], 30), [&] { return floor_div(100, v[0] - 30); },
            [&] {
              return while_loop(
                  {v[0]}, [&](auto& w) { return less(w[0], 1000); },
                  [&](auto& w) { return list{call(g, self, {w[0] + 1})[0]}; })[0];
            })};
      });
  auto y = call(g, nested, {n})[0];
  auto s = session::local();
  auto text = error_text_of([&] { s.fetch(y, {{n, 0}}); });
  INFO(text);
  CHECK(text.find("FloorDiv") != std::string::npos);
  size_t loop_count = 0;
  for (auto at = text.find(" iteration "); at != text.npos; at = text.find(" iteration ", at + 1))
    ++loop_count;
  CHECK(loop_count > 0);
  CHECK(loop_count <= 8);
}

TEST_CASE("a loop that never ends is stopped by its deadline") {
  graph_builder g;
  auto results = while_loop(
      {g.constant(0)}, [](auto& v) { return greater_equal(v[0], 0); },
      [](auto& v) { return list{v[0] * 1}; });
  auto s = session::local();
  CHECK_THROWS_WITH(s.fetch(results[0], {}, {.timeout = std::chrono::milliseconds{50}}),
                    Catch::Contains("not done in time"));
}

TEST_CASE("mismatched branches and loops are refused where they are built") {
  graph_builder g;
  auto p = g.placeholder(dtype::boolean, {}, "p");
  auto x = g.placeholder(dtype::f32, {}, "x");
  CHECK(error_text_of([&] {
          cond(
              p, [&] { return x; }, [&] { return g.constant(1); });
        }).find("branches return f32 and i32 as value 0") != std::string::npos);
  CHECK(error_text_of([&] {
          cond(
              p, [&] { return static_cast<edge>(g.variable(1.0f)); }, [&] { return x; });
        }).find("outlives a call") != std::string::npos);
  CHECK(error_text_of([&] {
          while_loop(
              {x}, [&](auto& v) { return less(v[0], 1); }, [&](auto&) { return list{}; });
        }).find("returns 0 values for 1 loop variables") != std::string::npos);
  edge inside;
  cond(
      p, [&] { return inside = x + 1; }, [&] { return x; });
  CHECK(error_text_of([&] { g.constant(1.0f) + inside; }).find("belongs to another graph") !=
        std::string::npos);
  // After the errors the graph can still be used.
  CHECK(value<float>(session::local().fetch(x + 1, {{x, 1.0f}})) == 2);
}

TEST_CASE("shapes that a function declares hold when it runs") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto recursive_function = define_recursive(
      g, "again", {argument{dtype::f32, {2}}}, {dtype::f32}, [&](auto& self, auto& v) {
        return list{cond(
            greater(sum(v[0], {0}), 100.0f), [&] { return v[0]; },
            [&] { return call(g, self, {v[0] * 2})[0]; })};
      });
  auto y = call(g, recursive_function, {x});
  auto s = session::local();
  CHECK(values<float>(s.fetch(y[0], {{x, {30.0f, 10.0f}}})) == std::vector{120.0f, 40.0f});
  CHECK(error_text_of([&] {
          s.fetch(y[0], {{x, {1.0f, 2.0f, 3.0f}}});
        }).find("argument 0 of function 'again' must have shape [2], got [3]") !=
        std::string::npos);
}

TEST_CASE("a loop on variables runs on the variables' task") {
  graph_builder g;
  auto s = session::local();
  auto v = g.variable({1.0f, 2.0f}, "v");
  auto results = while_loop(
      {g.constant(0)}, [](auto& x) { return less(x[0], 100); },
      [&](auto& x) {
        assign_add(v, {1.0f, 1.0f});
        return list{x[0] + 1};
      });
  s.run(g.initializer());
  s.run(results[0].node);
  CHECK(values<float>(s.fetch(v)) == std::vector{101.0f, 102.0f});
}

TEST_CASE("the first number in a loop that is not finite is reported, with its iteration") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = while_loop(
      {g.constant(0), x}, [](auto& v) { return less(v[0], 10); },
      [&](auto& v) {
        return list{v[0] + 1, log(v[1], "logarithm") * 0.5f};
      },
      {.name = "train"})[1];
  auto s = session::local({.insight = {.check_numerics = true}});
  auto error_text = error_text_of([&] { s.fetch(y, {{x, 3.0f}}); });
  CHECK_THAT(error_text,
             Catch::Matchers::Contains("'train'") && Catch::Matchers::Contains("iteration 2]") &&
                 Catch::Matchers::Contains("logarithm") && Catch::Matchers::Contains("not finite"));
  CHECK(error_text_of([&] { session::local().fetch(y, {{x, 3.0f}}); }) == "no error");
}

} // namespace troupe::test::control_flow_test
