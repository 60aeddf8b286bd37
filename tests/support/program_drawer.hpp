// Random programs of branches, loops over numbers and slices, calls, variables and queues.
#pragma once
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <functional>
#include <random>

namespace troupe::test {

struct drawing_options {
  /// Nodes and variables are spread over these devices.
  std::vector<std::string> devices = {};
  /// Some of the effects are on a queue; `fill` must have run before the first step.
  bool queues = false;
  /// The container of the variables and the queue, and the prefix of their names.
  std::string container = {}, prefix = {};
  /// Applied to each value that is added to a variable.
  std::function<edge(edge)> transform_update = {};
};

/// Draws a program. All values are i64[2], small, and exact. Each level has its effects in the
/// order in which they are drawn, so that the result is unique.
class program_drawer {
public:
  using list = std::vector<edge>;

  program_drawer(graph_builder& builder, uint64_t seed, int statements,
                 drawing_options options = {})
      : g_(builder), random_(seed), left_(statements), options_(std::move(options)) {}

  struct program {
    edge input;
    list outputs;
    std::vector<variable_handle> variables;
    std::vector<node*> effects;
    node* fill = nullptr; ///< of the queue, if there is one
  };

  program draw() {
    program drawn;
    drawn.input = g_.placeholder(dtype::i64, {2}, "input");
    for (int i = 0; i < 2; ++i)
      variables_.push_back(somewhere([&] {
        return detail::add_variable(
            g_, tensor::vector<int64_t>({3 + i, 5 - i}), concat(options_.prefix, "v", i),
            std::source_location::current(), {.attrs = {{"container", options_.container}}});
      }));
    if (options_.queues)
      drawn.fill = make_queue();
    scope top{{drawn.input, g_.constant(tensor::vector<int64_t>({7, 11}))}, nullptr, 3};
    define_functions();
    while (left_ > 0)
      statement(top);
    drawn.outputs = {top.values.end() - std::min<std::ptrdiff_t>(3, std::ssize(top.values)),
                     top.values.end()};
    for (auto& output : drawn.outputs)
      output = identity(output);
    drawn.variables = variables_;
    if (top.last)
      drawn.effects = {top.last};
    return drawn;
  }

private:
  static constexpr int64_t modulus = 1009;

  struct scope {
    list values;
    node* last; // effect
    int depth;  // nesting depth that is left
  };

  int below(int n) { return std::uniform_int_distribution<int>{0, n - 1}(random_); }
  const edge& pick(const scope& level) {
    return level.values[static_cast<size_t>(below(static_cast<int>(level.values.size())))];
  }
  edge small(edge a) { return floor_mod(a, g_.constant(int64_t{modulus})); }
  // A number from 0 on that depends on a value.
  edge choice(const scope& level, int bound) {
    return cast(floor_mod(sum(pick(level), {0}), int64_t{bound}), dtype::i32);
  }

  // Builds some of the following nodes on a random device.
  template <class Build>
  std::invoke_result_t<Build> somewhere(Build build) {
    auto device_index =
        options_.devices.empty()
            ? 0
            : static_cast<size_t>(below(static_cast<int>(options_.devices.size()) + 1));
    if (device_index == 0)
      return build();
    g_.push_device(options_.devices[device_index - 1]);
    auto built = build();
    g_.pop_device();
    return built;
  }

  edge formula(scope& level) {
    return somewhere([&] { return formula_here(level); });
  }

  edge formula_here(scope& level) {
    switch (below(5)) {
      case 0: return small(pick(level) + pick(level));
      case 1: return small(pick(level) * pick(level));
      case 2: return small(pick(level) - pick(level));
      case 3: return maximum(pick(level), pick(level));
      default: return select_v2(less(pick(level), pick(level)), pick(level), pick(level));
    }
  }

  void effect(scope& level) {
    auto v = variables_[static_cast<size_t>(below(2))];
    node_spec spec{.op = "Identity", .inputs = {v.ref}};
    if (below(2) == 0) {
      auto added = small(pick(level));
      if (options_.transform_update)
        added = options_.transform_update(added);
      node_spec update{.op = "AssignAdd", .inputs = {v.ref, added}};
      if (level.last)
        update.controls = {level.last};
      auto* changed = value_or_throw(g_.add(update));
      spec.inputs = {changed->output(0)};
    } else if (level.last) {
      spec.controls = {level.last};
    }
    auto* read_node = value_or_throw(g_.add(spec));
    level.last = read_node;
    level.values.push_back(small(read_node->output(0)));
  }

  // Enqueues a value and dequeues the first one: the number of elements stays the same.
  void exchange(scope& level) {
    auto* enqueue_node = value_or_throw(
        g_.add({.op = "QueueEnqueue",
                .inputs = {queue_, small(pick(level))},
                .controls = level.last ? std::vector<node*>{level.last} : std::vector<node*>{}}));
    auto* dequeue_node =
        value_or_throw(g_.add({.op = "QueueDequeue",
                               .inputs = {queue_},
                               .attrs = {{"component_types", std::vector{dtype::i64}}},
                               .controls = {enqueue_node}}));
    level.last = dequeue_node;
    level.values.push_back(dequeue_node->output(0));
  }

  node* make_queue() {
    queue_ = somewhere([&] {
      return fifo_queue(
          g_, {dtype::i64},
          {.shapes = {partial_shape{2}}, .capacity = 1000, .container = options_.container},
          concat(options_.prefix, "q", random_())); // containers of a cluster are shared
    });
    std::vector<node*> puts;
    for (int64_t i = 0; i < 3; ++i) {
      auto in_order = g_.after(puts);
      puts.push_back(queue_enqueue(queue_, {g_.constant(tensor::vector<int64_t>({i + 1, i}))}));
    }
    return puts.back();
  }

  // A scan over a few slices: the carried value, and the sum of the iterations' outputs.
  list sweep(scope& level) {
    auto xs = pack({pick(level), pick(level), pick(level)});
    auto seed = random_();
    auto budget = left_;
    auto scanned = scan({pick(level)}, {xs}, [&](auto& carry, auto& slices) -> scan_iteration {
      random_.seed(seed);
      left_ = budget;
      auto inner = level;
      inner.values.push_back(carry[0]);
      inner.values.push_back(slices[0]);
      auto block_results = block(inner, 2);
      return {{block_results[0]}, {block_results[1]}};
    });
    return {scanned.carry[0], small(sum(scanned.outputs[0], {0}))};
  }

  // A map over a few slices without a carried value. Later effects follow the loop itself.
  list map_slices(scope& level) {
    auto xs = pack({pick(level), pick(level), pick(level)});
    auto seed = random_();
    auto budget = left_;
    auto mapped = map({xs}, [&](auto& slices) {
      random_.seed(seed);
      left_ = budget;
      auto inner = level;
      inner.values.push_back(slices[0]);
      return block(inner, 1);
    });
    auto* loop = mapped[0].node;
    while (!runs_functions(loop->op()))
      loop = loop->inputs()[0].node;
    return {loop->output(0), small(sum(mapped[0], {0}))};
  }

  // The statements of a nested level, with the effects of that level in order.
  list block(scope inner, size_t results) {
    inner.last = nullptr;
    --inner.depth;
    for (int n = 1 + below(3); n > 0 && left_ > 0; --n)
      statement(inner);
    list block_results;
    for (size_t i = 0; i < results; ++i)
      block_results.push_back(pick(inner));
    // Makes the last effect's value part of the results, since nothing else may depend on it.
    if (inner.last)
      block_results[0] = small(block_results[0] + inner.values.back());
    return block_results;
  }

  void note(scope& level, const list& results) {
    auto* producer = results.front().node;
    if (has(producer->op().effects, effect::stateful))
      level.last = producer;
    for (const auto& result_edge : results)
      if (result_edge.type() == dtype::i64)
        level.values.push_back(result_edge);
  }

  template <class Build>
  void add_in_order(scope& level, Build build) {
    // An effect follows the earlier ones.
    if (!level.last)
      return note(level, build());
    auto in_order = g_.after({level.last});
    note(level, build());
  }

  void statement(scope& level) {
    --left_;
    auto kind_drawn = below(level.depth > 0 ? 11 : 5);
    if (kind_drawn == 3 && options_.queues && below(2) == 0)
      exchange(level);
    else if (kind_drawn < 3)
      level.values.push_back(formula(level));
    else if (kind_drawn < 5)
      effect(level);
    else if (kind_drawn == 5)
      add_in_order(level, [&] {
        auto p = equal(choice(level, 2), 0);
        return cond(
            p, [&] { return block(level, 2); }, [&] { return block(level, 2); });
      });
    else if (kind_drawn == 6)
      add_in_order(level, [&] {
        auto n = choice(level, 4);
        return switch_case(n, {[&] { return block(level, 1); }, [&] { return block(level, 1); },
                               [&] { return block(level, 1); }});
      });
    else if (kind_drawn == 7)
      add_in_order(level, [&] { return loop(level); });
    else if (kind_drawn == 8)
      add_in_order(level, [&] { return sweep(level); });
    else if (kind_drawn == 9)
      add_in_order(level, [&] { return map_slices(level); });
    else if (!functions_.empty())
      add_in_order(level, [&] {
        return call(g_, functions_[static_cast<size_t>(below(static_cast<int>(functions_.size())))],
                    {pick(level), pick(level)});
      });
  }

  // The body is built again where shapes change, so it must be drawn alike.
  list loop(scope& level) {
    auto iterations = choice(level, 5);
    auto start = g_.constant(0);
    list initial{start, pick(level), pick(level)};
    auto seed = random_();
    auto budget = left_;
    auto loop_results = while_loop(
        initial, [&](auto& v) { return less(v[0], iterations); },
        [&](auto& v) {
          random_.seed(seed);
          left_ = budget;
          auto inner = level;
          inner.values.push_back(v[1]);
          inner.values.push_back(v[2]);
          auto block_results = block(inner, 2);
          // Passed on in another position.
          if (below(3) == 0)
            block_results[1] = v[1];
          return list{v[0] + 1, block_results[0], block_results[1]};
        });
    return {loop_results[1], loop_results[2]};
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
  drawing_options options_;
  edge queue_ = {};
};

} // namespace troupe::test
