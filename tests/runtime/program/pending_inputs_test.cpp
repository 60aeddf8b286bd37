// Regions that use results of collective operations, on a simulated GPU.
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/test_ops.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/pending_inputs.hpp"
#include "troupe/runtime/program/instance.hpp"

namespace troupe::test::pending_inputs_test {

namespace {

// A GPU that counts the waits for tensors that arrive asynchronously.
class counting_view final : public device, public pending_inputs {
public:
  explicit counting_view(std::shared_ptr<device> viewed) : device_(std::move(viewed)) {}

  device_kind kind() const noexcept override { return device_->kind(); }
  int ordinal() const noexcept override { return device_->ordinal(); }
  accelerator* as_accelerator() noexcept override { return device_->as_accelerator(); }
  pending_inputs* as_pending_inputs() noexcept override { return this; }
  std::string description() const override { return device_->description(); }
  size_t memory_limit() const noexcept override { return device_->memory_limit(); }
  allocator& memory() noexcept override { return device_->memory(); }
  void parallel_ranges(int64_t items, double nanoseconds_per_item, range_body body,
                       stop_signal* stop) override {
    device_->parallel_ranges(items, nanoseconds_per_item, body, stop);
  }
  status wait_for(const tensor& pending) override {
    ++waits;
    return device_->as_pending_inputs()->wait_for(pending);
  }

  int waits = 0;

private:
  const std::shared_ptr<device> device_;
};

// Ends a region's code: this test delivers the answer of the collective operation itself.
struct silent_sink final : emission_sink {
  void send_token(token&& sent) override { tokens.push_back(std::move(sent)); }
  void send_export(uint32_t, tensor&&, bool) override {}
  void send_fetch(uint32_t, tensor&&, bool) override { ++fetches; }
  void start_wait(uint32_t, std::span<tensor>) override { ++operations; }

  std::vector<token> tokens;
  int fetches = 0, operations = 0;
};

} // namespace

TEST_CASE("a stopped step launches no waits for the results of collective operations") {
  watchdog watch;
  counting_view device{make_simulated_devices(1).back()};
  auto nodes = std::make_unique<graph>(simulated_library());
  auto x = add(*nodes, {.op = "_Feed", .attrs = {{"index", 0}, {"dtype", dtype::f32}}});
  auto sum = add(*nodes, {.op = "CollectiveReduce",
                          .inputs = {x},
                          .attrs = {{"group_size", 2},
                                    {"group_key", 1},
                                    {"instance_key", 1},
                                    {"merge_op", std::string{"Add"}},
                                    {"final_op", std::string{"Id"}}}});
  auto y = add(*nodes, {.op = "Mul", .inputs = {sum, sum}});
  add(*nodes, {.op = "_Fetch", .inputs = {y}, .attrs = {{"index", 0}}});
  variables state;
  auto compiled = program::compile(std::move(nodes), device, std::ref(state), {.replay = false});
  REQUIRE(compiled.status().ok());
  auto uploaded = device.as_accelerator()->upload(tensor::vector(std::vector<float>{1, 2}));
  REQUIRE(uploaded);
  for (auto stops : {true, false}) {
    CAPTURE(stops);
    instance running{*compiled};
    stop_signal stop;
    silent_sink out;
    running.set_feed(0, *uploaded);
    REQUIRE(running.receive({.region = 0}));
    REQUIRE(running.run(0, out, stop).ok());
    REQUIRE(out.operations == 1);
    auto reader = (*compiled)->waits()[0].region;
    std::vector<tensor> answers{*uploaded};
    auto is_ready = running.answer(0, answers, false);
    for (auto& sent : out.tokens)
      is_ready = running.receive(std::move(sent)) || is_ready;
    REQUIRE(is_ready);
    if (stops)
      stop.raise();
    auto outcome = running.run(reader, out, stop);
    CHECK(outcome.kind() == (stops ? error_kind::cancelled : error_kind::ok));
    CHECK(device.waits == (stops ? 0 : 1));
    CHECK(out.fetches == (stops ? 0 : 1));
  }
}

} // namespace troupe::test::pending_inputs_test
