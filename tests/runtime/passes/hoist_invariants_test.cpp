// Tests of the nodes that leave loops, and of those that stay in them.
#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::hoist_invariants_test {
namespace {

using Catch::Matchers::Contains;

struct optimized {
  explicit optimized(std::string_view source) : at(source) {
    auto done = optimize(at.closed, {}, &host());
    INFO(done);
    REQUIRE(done.ok());
    graph_text = at.written();
    for (const auto& added : at.closed.nodes->nodes())
      if (added->op().calls == call_kind::while_true) {
        condition = written(added->attr<function_value>("cond").body->body());
        body = written(added->attr<function_value>("body").body->body());
      }
  }

  pass_case at;
  std::string graph_text, condition, body;
};

// y = y * (w * w), for the given number of iterations; then more nodes of an iteration, and its
// feeds.
std::string loop_of(std::string_view first, std::string_view limit, std::string_view turn = "",
                    std::string_view result = "y") {
  return concat(R"(
    w = Placeholder dtype=f32 shape=[2,2]
    x = Placeholder dtype=f32 shape=[2,2]
    n = Placeholder dtype=i32 shape=[]
    t = Placeholder dtype=f32 shape=[]
    loop = while (i = )",
                first, R"(, y = x) {
      more = Less(i, )",
                limit, R"()
      return more
    } do {
      square = MatMul(w, w)
      y = MatMul(y, square)
      )",
                turn, R"(
      i = Add(i, )",
                first.starts_with("f32") ? "f32(1)" : "i32(1)", R"()
      return i, )",
                result, R"(
    }
    feed w = f32[[1, 2], [0, 1]]
    feed x = f32[[1, 0], [0, 1]]
    feed n = i32(3)
    feed t = f32(3)
    fetch loop:1 = f32[[1, 12], [0, 1]]
  )");
}

std::vector<float> values(const tensor& source) {
  return {source.values<float>().begin(), source.values<float>().end()};
}

session without_hoisting() { return session::local({.passes = {.hoist_invariants = false}}); }

} // namespace

TEST_CASE("a product that is the same in all iterations is computed before the loop") {
  optimized is{loop_of("i32(0)", "i32(3)")};
  CHECK_THAT(is.graph_text, Contains("loop/invariants/square=MatMul(_feed_0,_feed_0)"));
  CHECK_THAT(is.body, Contains("y=MatMul("));
  CHECK_THAT(is.body, !Contains("square"));
  CHECK_THAT(is.graph_text, !Contains("If"));
}

TEST_CASE("a moved node is not confused with a node of a call with the same name") {
  optimized is{R"(
    body g(a: f32[2,2]) {
      x = MatMul(a, a)
      return x
    }
    w = Placeholder dtype=f32 shape=[2,2]
    loop = while (i = i32(0), y = w) {
      m = Less(i, i32(3))
      return m
    } do {
      c/x = MatMul(y, y)
      c/_end = Neg(y)
      c = PartitionedCall(w) f=g
      z = MatMul(c/x, c)
      i = Add(i, i32(1))
      return i, z
    }
    feed w = f32[[1, 2], [0, 1]]
    fetch loop:1
  )"};
  CHECK_THAT(is.graph_text, Contains("loop/invariants/c/x_=MatMul(_feed_0,_feed_0)"));
  CHECK_THAT(is.body, Contains("c/x=MatMul(_feed_1,_feed_1)"));
  CHECK_THAT(is.body, Contains("z=MatMul(c/x,_feed_3)"));
}

TEST_CASE("nodes of a body may have the names of its arguments") {
  optimized is{loop_of("i32(0)", "i32(3)",
                       "argument_3 = MatMul(square, square)\n      argument_0_ = i32[1, 0]\n"
                       "      argument_4 = Transpose(argument_3, argument_0_)\n"
                       "      z = MatMul(y, argument_4)",
                       "z")};
  CHECK_THAT(is.graph_text, Contains("argument_3=MatMul("));
  CHECK_THAT(is.body, Contains("z=MatMul(y,_feed_"));
  CHECK_THAT(is.body, !Contains("argument_"));
}

TEST_CASE("a loop that may have no iterations costs at most 16 MiB of zeros") {
  auto body = [](int extent, std::string_view limit) {
    return optimized{concat("a = Placeholder dtype=f32 shape=[", extent, R"(,2]
      b = Placeholder dtype=f32 shape=[2,1024]
      n = Placeholder dtype=i32 shape=[]
      x = Placeholder dtype=f32 shape=[)",
                            extent, R"(,1024]
      loop = while (i = i32(0), y = x) {
        more = Less(i, )",
                            limit, R"()
        return more
      } do {
        p = MatMul(a, b)
        y = Add(y, p)
        i = Add(i, i32(1))
        return i, y
      }
      feed a = f32{)",
                            extent, R"(,2}[0]
      feed b = f32{2,1024}[0]
      feed n = i32(0)
      feed x = f32{)",
                            extent, R"(,1024}[0]
      fetch loop:1
    )")}
        .body;
  };
  CHECK_THAT(body(4096, "n"), !Contains("p=MatMul"));
  CHECK_THAT(body(4097, "n"), Contains("p=MatMul"));
  CHECK_THAT(body(4097, "i32(3)"), !Contains("p=MatMul"));
}

TEST_CASE("nested calls are examined once each") {
  std::string source = "body f0(a: f32[4]) {\n  b = Neg(a)\n  return b\n}\n";
  for (int i = 1; i <= 40; ++i)
    source += concat("body f", i, "(a: f32[4]) {\n  b = PartitionedCall(a) f=f", i - 1,
                     " _noinline=true\n  c = PartitionedCall(b) f=f", i - 1,
                     " _noinline=true\n  return c\n}\n");
  optimized is{concat(source, R"(
    a = Placeholder dtype=f32 shape=[4]
    loop = while (i = i32(0), y = a) {
      more = Less(i, i32(3))
      return more
    } do {
      b = PartitionedCall(a) f=f40 _noinline=true
      y = Add(y, b)
      i = Add(i, i32(1))
      return i, y
    }
    feed a = f32[0, 0, 0, 0]
    fetch loop:1
  )")};
  CHECK_THAT(is.body, Contains("b=PartitionedCall("));
}

TEST_CASE("if a loop may have no iteration, the product is computed only if there is one") {
  optimized is{loop_of("i32(0)", "n")};
  CHECK_THAT(is.graph_text, Contains("loop/first_iteration/more=Less("));
  CHECK_THAT(is.graph_text, Contains("loop/invariants=StatelessIf(loop/first_iteration/more,"));
  CHECK_THAT(is.body, !Contains("square"));
}

TEST_CASE("a condition that may round is not computed twice, unless it is constant") {
  CHECK_THAT(optimized{loop_of("f32(0)", "t")}.body, Contains("square=MatMul"));
  CHECK_THAT(optimized{loop_of("f32(0)", "f32(3)")}.body, !Contains("square"));
}

TEST_CASE("invariant nodes leave a condition, which always runs once") {
  optimized is{R"(
    w = Placeholder dtype=f32 shape=[2,2]
    loop = while (i = f32(0)) {
      all = Sum(w, i32[0, 1])
      more = Less(i, all)
      return more
    } do {
      i = Add(i, f32(1))
      return i
    }
    feed w = f32[[1, 2], [0, 1]]
    fetch loop = f32(4)
  )"};
  CHECK_THAT(is.graph_text, Contains("loop/invariants_of_condition/all=Sum(_feed_0,"));
  CHECK_THAT(is.condition, !Contains("Sum"));
}

TEST_CASE("a node that leaves an inner loop leaves the outer loop, too") {
  optimized is{R"(
    w = Placeholder dtype=f32 shape=[2,2]
    outer = while (i = i32(0), y = w) {
      more = Less(i, i32(3))
      return more
    } do {
      inner = while (k = i32(0), z = y) {
        more = Less(k, i32(2))
        return more
      } do {
        square = MatMul(w, w)
        z = MatMul(z, square)
        k = Add(k, i32(1))
        return k, z
      }
      i = Add(i, i32(1))
      return i, inner:1
    }
    feed w = f32[[1, 1], [0, 1]]
    fetch outer:1 = f32[[1, 13], [0, 1]]
  )"};
  CHECK_THAT(is.graph_text, Contains("square=MatMul(_feed_0,_feed_0)"));
  CHECK_THAT(is.body, !Contains("MatMul"));
}

TEST_CASE("reads of variables, random numbers and small arithmetic stay in the loop") {
  auto loop_with = [](std::string_view node) {
    return optimized{concat("v = VariableV2 dtype=f32 shape=[2,2]\ninit = Assign(v, f32{2,2}[1])\n",
                            loop_of("i32(0)", "i32(3)",
                                    concat("extra = ", node, "\n      z = Add(y, extra)"), "z"))}
        .body;
  };
  CHECK_THAT(loop_with("MatMul(w, v)"), Contains("extra=MatMul"));
  CHECK_THAT(loop_with("RandomUniform(i32[2, 2]) dtype=f32"), Contains("extra=RandomUniform"));
  optimized small{R"(
    a = Placeholder dtype=f32 shape=[4]
    loop = while (i = i32(0), y = a) {
      more = Less(i, i32(3))
      return more
    } do {
      b = Exp(a)
      y = Mul(y, b)
      i = Add(i, i32(1))
      return i, y
    }
    feed a = f32[0, 0, 0, 0]
    fetch loop:1 = f32[0, 0, 0, 0]
  )"};
  CHECK_THAT(small.graph_text, !Contains("invariants"));
}

TEST_CASE("a node that makes a large value from a small one stays in the loop") {
  auto body = [](std::string_view extent) {
    return optimized{concat(R"(
      a = Placeholder dtype=f32 shape=[1,2]
      loop = while (i = i32(0), y = f32(0)) {
        more = Less(i, i32(3))
        return more
      } do {
        many = Tile(a, i32[)",
                            extent, R"(, 1])
        all = Sum(many, i32[0, 1])
        y = Add(y, all)
        i = Add(i, i32(1))
        return i, y
      }
      feed a = f32[[1, 2]]
      fetch loop:1
    )")}
        .body;
  };
  CHECK_THAT(body("1000000"), Contains("many=Tile"));
  CHECK_THAT(body("10"), !Contains("Tile"));
}

TEST_CASE("a node that would fail in an iteration fails only if there is one") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n"), at = g.placeholder(dtype::i32, {1}, "at");
  auto x = g.placeholder(dtype::f32, {3}, "x");
  auto loop_result = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return edges{v[0] + 1, v[1] + sum(gather(x, at), {0})};
      },
      {.name = "loop"})[1];
  auto s = session::local();
  auto run = [&](int turns, int index) {
    return values(s.fetch(loop_result, {{n, turns}, {at, {index}}, {x, {1.0f, 2.0f, 3.0f}}}));
  };
  CHECK(run(0, 7) == std::vector{1.0f, 2.0f, 3.0f});
  CHECK(run(2, 1) == std::vector{5.0f, 6.0f, 7.0f});
  CHECK_THAT(error_text_of([&] { (void)run(1, 7); }), Contains("'loop/invariants'"));
}

TEST_CASE("a value captured after an effect leaves the loop without the effect") {
  graph_builder g;
  auto count = g.variable(0.0f, "count");
  auto w = g.placeholder(dtype::f32, {2, 2}, "w");
  auto loop_result = while_loop(
      {g.constant(0), w}, [](auto& v) { return less(v[0], 3); },
      [&](auto& v) {
        auto* noted = assign_add(count, 1.0f).node;
        {
          auto later = g.after({noted});
          (void)(w * 2.0f); // now the argument waits for the update
        }
        return edges{v[0] + 1, matmul(v[1], matmul(w, w))};
      })[1];
  auto s = session::local();
  s.run(g.initializer());
  auto matrix = tensor::vector(std::vector{1.0f, 1.0f, 0.0f, 1.0f}).reshaped(shape{2, 2});
  CHECK(values(s.fetch(loop_result, {{w, matrix}})) == std::vector{1.0f, 7.0f, 0.0f, 1.0f});
  CHECK(to_scalar<float>(s.fetch(count)) == 3);
}

TEST_CASE("loops and their gradients give the same bits with and without hoisting") {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto x = g.placeholder(dtype::f32, {3, 5}, "x"), w = g.placeholder(dtype::f32, {5, 5}, "w");
  auto y = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return edges{v[0] + 1, tanh(matmul(v[1], matmul(w, tanh(w))))};
      })[1];
  auto slopes = g.gradients({y}, {x, w});
  std::vector<float> numbers_x(15), numbers_w(25);
  for (size_t i = 0; i < 15; ++i)
    numbers_x[i] = static_cast<float>(i % 7) / 7 - 0.3f;
  for (size_t i = 0; i < 25; ++i)
    numbers_w[i] = static_cast<float>(i % 11) / 11 - 0.4f;
  auto tx = tensor::vector(numbers_x).reshaped(shape{3, 5}),
       tw = tensor::vector(numbers_w).reshaped(shape{5, 5});
  auto hoisting_session = session::local(), plain_session = without_hoisting();
  for (int turns : {0, 1, 4})
    for (const auto& fetched : {y, slopes[0], slopes[1]}) {
      INFO(turns << ' ' << fetched);
      std::vector<feed> feeds{{n, turns}, {x, tx}, {w, tw}};
      CHECK(values(hoisting_session.fetch(fetched, feeds)) ==
            values(plain_session.fetch(fetched, feeds)));
    }
}

} // namespace troupe::test::hoist_invariants_test
