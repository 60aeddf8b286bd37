// Random programs of branches, loops over numbers and slices, calls, variables and queues.
#pragma once
#include "tests/support/failure_of.hpp"
#include "troupe/troupe.hpp"

#include <functional>
#include <random>

namespace troupe::test {

struct drawing_options {
  /// What is computed is spread over them, variables as well.
  std::vector<std::string> devices = {};
  /// Some of the effects are on a queue, which `fill` must have filled before the first step.
  bool queues = false;
  /// Where variables and the queue are, and how their names begin.
  std::string container = {}, prefix = {};
  /// What is added to a variable goes through it.
  std::function<edge(edge)> mark = {};
};

/// Draws a program. All values are i64[2], small, and exact. Each level has its effects in the
/// order in which they are drawn, so that there is one right answer.
class program_drawer {
public:
  using list = std::vector<edge>;

  program_drawer(graph_builder& in, uint64_t seed, int statements, drawing_options with = {})
      : g_(in), random_(seed), left_(statements), with_(std::move(with)) {}

  struct program {
    edge input;
    list outputs;
    std::vector<variable_handle> variables;
    std::vector<node*> effects;
    node* fill = nullptr; ///< of the queue, if there is one
  };

  program draw() {
    program made;
    made.input = g_.placeholder(dtype::i64, {2}, "input");
    for (int i = 0; i < 2; ++i)
      variables_.push_back(somewhere([&] {
        return detail::add_variable(g_, tensor::vector<int64_t>({3 + i, 5 - i}),
                                    concat(with_.prefix, "v", i), std::source_location::current(),
                                    {.attrs = {{"container", with_.container}}});
      }));
    if (with_.queues)
      made.fill = make_queue();
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
  static constexpr int64_t modulus = 1009;

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

  // A device for some of what follows.
  template <class Build>
  std::invoke_result_t<Build> somewhere(Build build) {
    auto which = with_.devices.empty()
                     ? 0
                     : static_cast<size_t>(below(static_cast<int>(with_.devices.size()) + 1));
    if (which == 0)
      return build();
    g_.push_device(with_.devices[which - 1]);
    auto made = build();
    g_.pop_device();
    return made;
  }

  edge formula(scope& at) {
    return somewhere([&] { return formula_here(at); });
  }

  edge formula_here(scope& at) {
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
      auto added = small(pick(at));
      if (with_.mark)
        added = with_.mark(added);
      node_spec update{.op = "AssignAdd", .inputs = {v.ref, added}};
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

  // Puts a value behind those that wait, and takes the first: as many wait before as after.
  void exchange(scope& at) {
    auto* put = value_or_throw(
        g_.add({.op = "QueueEnqueue",
                .inputs = {queue_, small(pick(at))},
                .controls = at.last ? std::vector<node*>{at.last} : std::vector<node*>{}}));
    auto* taken = value_or_throw(g_.add({.op = "QueueDequeue",
                                         .inputs = {queue_},
                                         .attrs = {{"component_types", std::vector{dtype::i64}}},
                                         .controls = {put}}));
    at.last = taken;
    at.values.push_back(taken->output(0));
  }

  node* make_queue() {
    queue_ = somewhere([&] {
      return fifo_queue(
          g_, {dtype::i64},
          {.shapes = {partial_shape{2}}, .capacity = 1000, .container = with_.container},
          concat(with_.prefix, "q", random_())); // containers of a cluster are shared
    });
    std::vector<node*> puts;
    for (int64_t i = 0; i < 3; ++i) {
      auto in_order = g_.after(puts);
      puts.push_back(queue_enqueue(queue_, {g_.constant(tensor::vector<int64_t>({i + 1, i}))}));
    }
    return puts.back();
  }

  // Goes through a few slices: what is carried, and all that the turns have given.
  list sweep(scope& at) {
    auto xs = pack({pick(at), pick(at), pick(at)});
    auto seed = random_();
    auto budget = left_;
    auto found = scan({pick(at)}, {xs}, [&](auto& carry, auto& slices) -> scan_turn {
      random_.seed(seed);
      left_ = budget;
      auto inner = at;
      inner.values.push_back(carry[0]);
      inner.values.push_back(slices[0]);
      auto made = block(inner, 2);
      return {{made[0]}, {made[1]}};
    });
    return {found.carry[0], small(sum(found.outputs[0], {0}))};
  }

  // Goes through a few slices with nothing to carry. Effects come after the loop itself.
  list each(scope& at) {
    auto xs = pack({pick(at), pick(at), pick(at)});
    auto seed = random_();
    auto budget = left_;
    auto found = map({xs}, [&](auto& slices) {
      random_.seed(seed);
      left_ = budget;
      auto inner = at;
      inner.values.push_back(slices[0]);
      return block(inner, 1);
    });
    auto* loop = found[0].node;
    while (!runs_functions(loop->op()))
      loop = loop->inputs()[0].node;
    return {loop->output(0), small(sum(found[0], {0}))};
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
    auto what = below(at.depth > 0 ? 11 : 5);
    if (what == 3 && with_.queues && below(2) == 0)
      exchange(at);
    else if (what < 3)
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
    else if (what == 8)
      within(at, [&] { return sweep(at); });
    else if (what == 9)
      within(at, [&] { return each(at); });
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
  drawing_options with_;
  edge queue_ = {};
};

} // namespace troupe::test
