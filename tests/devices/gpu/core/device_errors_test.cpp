// Errors that kernels report in flags, and the steps that they belong to.
#include "troupe/devices/gpu/core/device_errors.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"

namespace troupe::test::device_errors_test {

using gpu::device_error;
using gpu::device_error_flags;

namespace {

struct world {
  device_error_flags::boxes boxes{};
  device_error_flags flags{boxes};

  // As a kernel does: the first error of a box is kept.
  static void fail(device_error_flags::place place, int64_t value) {
    if (place.box->stage != device_error::none)
      return;
    *place.box = {.stage = device_error::written,
                  .op = "Gather",
                  .text = "indices",
                  .value = value,
                  .limit = 3,
                  .epoch = place.epoch};
  }
  void fail(int64_t value) { fail(flags.for_launch(), value); }
};

bool names(const status& outcome, int64_t value) {
  return outcome.kind() == error_kind::invalid_argument &&
         outcome.message().find(concat("has ", value, ',')) != std::string::npos;
}

} // namespace

TEST_CASE("each step has a number, and scopes of a thread are nested") {
  auto first = next_launch_owner(), second = next_launch_owner();
  CHECK(first != second);
  CHECK(is_launch_owner(first));
  CHECK_FALSE(is_launch_owner(0));
  CHECK(current_launch_owner() == 0);
  {
    const launching_for outer{first};
    CHECK(current_launch_owner() == first);
    {
      const launching_for inner{0};
      CHECK(current_launch_owner() == 0);
    }
    std::thread{[] { CHECK(current_launch_owner() == 0); }}.join();
    CHECK(current_launch_owner() == first);
  }
  CHECK(current_launch_owner() == 0);
}

TEST_CASE("an error reaches the step whose launch failed, and no other") {
  world w;
  auto good = next_launch_owner(), bad = next_launch_owner();
  {
    const launching_for scope{bad};
    w.fail(7);
    w.fail(8); // the first one counts
    w.flags.add(bad, failure(error_kind::internal, "a copy failed"));
  }
  device_error_flags::launches of_good, of_bad;
  {
    const launching_for scope{good};
    of_good = w.flags.end_epoch();
  }
  {
    const launching_for scope{bad};
    of_bad = w.flags.end_epoch();
  }
  CHECK(w.flags.take(of_good));
  CHECK(w.flags.take(w.flags.end_epoch())); // of launches without a step
  CHECK(names(w.flags.take(of_bad), 7));
  CHECK(w.flags.take(of_bad)); // all are forgotten
}

TEST_CASE("errors of launches without a step belong to the launches before a position") {
  world w;
  w.fail(4);
  auto first = w.flags.end_epoch();
  w.fail(5);
  auto second = w.flags.end_epoch();
  CHECK(names(w.flags.take(first), 4));
  CHECK(names(w.flags.take(second), 5));
  w.fail(6);
  const launching_for scope{next_launch_owner()}; // its completion comes first
  CHECK(names(w.flags.take(w.flags.end_epoch()), 6));
}

TEST_CASE("the next completion reports the error of a replay") {
  world w;
  world::fail(w.flags.for_replay(), 9);
  const launching_for scope{next_launch_owner()};
  auto ended = w.flags.end_epoch();
  CHECK(names(w.flags.take(ended), 9));
  CHECK(w.flags.take(ended));
}

TEST_CASE("errors from the host are kept once for each step") {
  world w;
  auto owner = next_launch_owner();
  for (int i = 0; i < 1000; ++i)
    w.flags.add(owner, failure(error_kind::internal, "copy ", i));
  CHECK(w.flags.take({.owner = owner}).message() == "copy 0");
  CHECK(w.flags.take({.owner = owner}));
}

TEST_CASE("downloads and ends of steps on one GPU report the errors of their own steps") {
  test::watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::mt19937 dice{gpu.seed};
  for (int round = 0; round < 200; ++round) {
    struct step {
      uint64_t owner = next_launch_owner();
      bool fails = false, is_asked_by_download = false;
      std::future<status> end;
      std::future<result<tensor>> download;
    };
    std::vector<step> steps(1 + dice() % 6);
    for (auto& one_step : steps) {
      const launching_for scope{one_step.owner};
      one_step.fails = dice() % 3 == 0;
      one_step.is_asked_by_download = dice() % 2 == 0;
      REQUIRE(gpu.driver->launch(
          [fails = one_step.fails, owner = one_step.owner]() -> status {
            return fails ? invalid("step ", owner) : status{};
          },
          gpu.device->compute()));
    }
    auto x = gpu.device->upload(filled(10, 1));
    REQUIRE(x);
    std::ranges::shuffle(steps, dice);
    for (auto& one_step : steps) {
      const launching_for scope{one_step.owner};
      if (one_step.is_asked_by_download)
        one_step.download = gpu.download(*x);
      one_step.end = gpu.notify();
    }
    for (auto& one_step : steps) {
      auto reported = one_step.is_asked_by_download ? one_step.download.get().status() : status{};
      if (auto at_end = one_step.end.get(); reported)
        reported = at_end;
      else
        CHECK(at_end); // reported once
      CHECK(reported.message() == (one_step.fails ? concat("step ", one_step.owner) : ""));
    }
  }
}

} // namespace troupe::test::device_errors_test
