// Runs programs without actors: pending messages are delivered in an order that the test chooses.
#pragma once
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/program/instance.hpp"

#include <functional>
#include <optional>
#include <random>

namespace troupe::test {

/// Plays the conductor, the queues and the peers of one instance.
class step_player final : public emission_sink {
public:
  /// Answers a wait: two numbers made from its inputs, or nothing for a dead answer.
  using oracle =
      std::function<std::vector<int64_t>(const wait_point&, const std::vector<int64_t>&)>;

  step_player(instance& running_instance, std::mt19937& generator, oracle answers);

  /// Runs one step to its end, or to the first error.
  status play(const std::vector<int64_t>& feeds);

  std::vector<int> runs;                               ///< of each region
  message_counts messages;                             ///< delivered
  std::map<uint32_t, std::optional<int64_t>> fetched;  ///< by index; nothing for a dead fetch
  std::map<uint32_t, std::optional<int64_t>> exported; ///< by key
  stop_signal stop;

  void send_token(token&& to_region) override;
  void send_export(uint32_t export_index, tensor&& value, bool dead) override;
  void send_fetch(uint32_t fetch_index, tensor&& value, bool dead) override;
  void start_wait(uint32_t wait_index, std::span<tensor> inputs) override;

private:
  void post(token&& to_region, uint64_t message_counts::*kind);
  tensor number(int64_t value);
  void answer(uint32_t wait_index, const std::vector<int64_t>& wait_inputs);

  instance& instance_;
  std::mt19937& generator_;
  oracle answers_;
  // Each function delivers a message, and returns whether the region starts.
  std::vector<std::function<bool(uint32_t&)>> under_way_;
};

/// A random graph of integers, waits and state, in the form that programs are compiled from, and
/// the expected results of its runs.
class random_step_graph {
public:
  random_step_graph(unsigned seed, int size);

  std::unique_ptr<graph> take_graph() { return std::move(graph_); }
  int feeds() const noexcept { return feeds_; }

  /// Computes the fetches, node by node in the order of adding. `dies` decides which waits get a
  /// dead answer.
  std::map<uint32_t, std::optional<int64_t>> expected(const graph& played_graph,
                                                      const std::vector<int64_t>& feeds,
                                                      const std::function<bool(const node&)>& dies,
                                                      std::map<std::string, int64_t>& state) const;

  /// The rule by which the tests' queue answers.
  static std::vector<int64_t> reply(const node& answering_node,
                                    const std::vector<int64_t>& wait_inputs);

private:
  std::unique_ptr<graph> graph_;
  int feeds_ = 0;
};

/// The partitionings into regions, alternating with `round`: at waits, each node alone, at branches
/// of any weight.
inline region_options cutting(unsigned round) {
  return {.region_per_node = round % 3 == 1,
          .workers = round % 3 == 2 ? 2 + static_cast<int>(round % 4) : 1,
          .dispatch_ns = 10.0 * (1 + round % 7)};
}

} // namespace troupe::test
