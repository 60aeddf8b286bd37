// Random programs of branches, loops, calls and variables against an interpreter (evaluate.hpp)
// that knows neither passes nor compiled code.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "troupe/troupe.hpp"

#include <random>
#include <sstream>

namespace troupe::test::control_flow_random_test {
namespace {

using list = std::vector<edge>;

constexpr int64_t modulus = 1009;

// Draws a program. All values are i64[2], small, and exact. Each level has its effects in the order
// in which they are drawn, so that there is one right answer.
class drawer {
public:
  drawer(graph_builder& in, uint64_t seed, int statements)
      : g_(in), random_(seed), left_(statements) {}

  struct program {
    edge input;
    list outputs;
    std::vector<variable_handle> variables;
    std::vector<node*> effects;
  };

  program draw() {
    program made;
    made.input = g_.placeholder(dtype::i64, {2}, "input");
    for (int i = 0; i < 2; ++i)
      variables_.push_back(g_.variable(tensor::vector<int64_t>({3 + i, 5 - i}), concat("v", i)));
    scope top{{made.input, g_.constant(tensor::vector<int64_t>({7, 11}))}, nullptr, 3};
    define_functions();
    while (left_ > 0)
      statement(top);
    made.outputs = {top.values.end() - std::min<std::ptrdiff_t>(3, std::ssize(top.values)),
                    top.values.end()};
    for (auto& each : made.outputs)
      each = identity(each);
    made.variables = variables_;
    if (top.last)
      made.effects = {top.last};
    return made;
  }

private:
  struct scope {
    list values;
    node* last; // effect
    int depth;  // of what may lie within
  };

  int below(int n) { return std::uniform_int_distribution<int>{0, n - 1}(random_); }
  const edge& pick(const scope& at) {
    return at.values[static_cast<size_t>(below(static_cast<int>(at.values.size())))];
  }
  edge small(edge a) { return floor_mod(a, g_.constant(int64_t{modulus})); }
  // A number from 0 on that depends on a value.
  edge choice(const scope& at, int most) {
    return cast(floor_mod(sum(pick(at), {0}), int64_t{most}), dtype::i32);
  }

  edge formula(scope& at) {
    switch (below(5)) {
      case 0: return small(pick(at) + pick(at));
      case 1: return small(pick(at) * pick(at));
      case 2: return small(pick(at) - pick(at));
      case 3: return maximum(pick(at), pick(at));
      default: return select_v2(less(pick(at), pick(at)), pick(at), pick(at));
    }
  }

  void effect(scope& at) {
    auto v = variables_[static_cast<size_t>(below(2))];
    node_spec spec{.op = "Identity", .inputs = {v.ref}};
    if (below(2) == 0) {
      node_spec update{.op = "AssignAdd", .inputs = {v.ref, small(pick(at))}};
      if (at.last)
        update.controls = {at.last};
      auto* changed = value_or_throw(g_.add(update));
      spec.inputs = {changed->output(0)};
    } else if (at.last) {
      spec.controls = {at.last};
    }
    auto* seen = value_or_throw(g_.add(spec));
    at.last = seen;
    at.values.push_back(small(seen->output(0)));
  }

  // What happens within, with the effects of that level in a row.
  list block(scope inner, size_t results) {
    inner.last = nullptr;
    --inner.depth;
    for (int n = 1 + below(3); n > 0 && left_ > 0; --n)
      statement(inner);
    list found;
    for (size_t i = 0; i < results; ++i)
      found.push_back(pick(inner));
    // Something may have no effect but on who comes after it.
    if (inner.last)
      found[0] = small(found[0] + inner.values.back());
    return found;
  }

  void note(scope& at, const list& made) {
    auto* by = made.front().node;
    if (has(by->op().effects, effect::stateful))
      at.last = by;
    for (const auto& one : made)
      if (one.type() == dtype::i64)
        at.values.push_back(one);
  }

  template <class Build>
  void within(scope& at, Build build) {
    // Who has effects comes after those before it.
    if (!at.last)
      return note(at, build());
    auto in_order = g_.after({at.last});
    note(at, build());
  }

  void statement(scope& at) {
    --left_;
    auto what = below(at.depth > 0 ? 9 : 5);
    if (what < 3)
      at.values.push_back(formula(at));
    else if (what < 5)
      effect(at);
    else if (what == 5)
      within(at, [&] {
        auto p = equal(choice(at, 2), 0);
        return cond(
            p, [&] { return block(at, 2); }, [&] { return block(at, 2); });
      });
    else if (what == 6)
      within(at, [&] {
        auto n = choice(at, 4);
        return case_of(n, {[&] { return block(at, 1); }, [&] { return block(at, 1); },
                           [&] { return block(at, 1); }});
      });
    else if (what == 7)
      within(at, [&] { return loop(at); });
    else if (!functions_.empty())
      within(at, [&] {
        return call(g_, functions_[static_cast<size_t>(below(static_cast<int>(functions_.size())))],
                    {pick(at), pick(at)});
      });
  }

  // The body is built again where shapes do not stay, so it must be drawn alike.
  list loop(scope& at) {
    auto turns = choice(at, 5);
    auto start = g_.constant(0);
    list initial{start, pick(at), pick(at)};
    auto seed = random_();
    auto budget = left_;
    auto found = while_loop(
        initial, [&](auto& v) { return less(v[0], turns); },
        [&](auto& v) {
          random_.seed(seed);
          left_ = budget;
          auto inner = at;
          inner.values.push_back(v[1]);
          inner.values.push_back(v[2]);
          auto made = block(inner, 2);
          if (below(3) == 0)
            made[1] = v[1]; // handed on, in another place
          return list{v[0] + 1, made[0], made[1]};
        });
    return {found[1], found[2]};
  }

  void define_functions() {
    for (int i = below(3); i > 0; --i)
      functions_.push_back(define(
          g_, concat("f", i), {argument{dtype::i64, {2}}, argument{dtype::i64, {2}}}, [&](auto& v) {
            scope inner{v, nullptr, 2};
            return block(inner, 2);
          }));
  }

  graph_builder& g_;
  std::mt19937_64 random_;
  int left_;
  std::vector<variable_handle> variables_;
  std::vector<defined_function> functions_;
};

std::string text_of(const tensor& of) {
  std::ostringstream out;
  out << of;
  return out.str();
}

// What differs, or nothing.
std::string difference(uint64_t seed, int statements) {
  graph_builder g;
  auto drawn = drawer{g, seed, statements}.draw();
  evaluator reference{g, small_device()};
  auto* init = g.initializer();
  auto expected = reference.run({}, {}, {init});
  if (!expected)
    return "the interpreter fails: " + expected.status().message();
  auto s = session::local({.threads = {.inter_op = seed % 2 == 0 ? size_t{1} : size_t{3}}});
  s.run(init);
  for (int64_t run = 0; run < 3; ++run) {
    auto fed = tensor::vector<int64_t>({run + 1, static_cast<int64_t>(seed % 100)});
    expected = reference.run({{drawn.input, fed}}, drawn.outputs, drawn.effects);
    if (!expected)
      return "the interpreter fails: " + expected.status().message();
    std::vector<target> targets(drawn.effects.begin(), drawn.effects.end());
    auto got = s.run({{drawn.input, fed}}, drawn.outputs, targets);
    for (size_t i = 0; i < got.size(); ++i)
      if (!identical(got[i], (*expected)[i]))
        return concat("run ", run, ": output ", i, " is ", text_of(got[i]), ", must be ",
                      text_of((*expected)[i]));
    for (const auto& one : drawn.variables) {
      auto now = s.fetch(one);
      auto wanted = *reference.variable_of(*one.ref.node).read();
      if (!identical(now, wanted))
        return concat("run ", run, ": variable ", one.name(), " is ", text_of(now), ", must be ",
                      text_of(wanted));
    }
  }
  return {};
}

void check_programs(uint64_t first, uint64_t count) {
  for (auto seed = first; seed < first + count; ++seed) {
    constexpr int size = 24;
    auto wrong = difference(seed, size);
    if (wrong.empty())
      continue;
    int least = size;
    for (int fewer = 1; fewer < size; ++fewer) // the shortest program of this seed that fails
      if (auto still = difference(seed, fewer); !still.empty()) {
        least = fewer;
        wrong = still;
        break;
      }
    FAIL_CHECK("seed " << seed << " with " << least << " statements: " << wrong);
  }
}

} // namespace

TEST_CASE("random programs of branches, loops and calls do what an interpreter does") {
  check_programs(1, 200);
}

TEST_CASE("many random programs of branches, loops and calls do what an interpreter does",
          "[slow]") {
  check_programs(1000, 10'000);
}

} // namespace troupe::test::control_flow_random_test
