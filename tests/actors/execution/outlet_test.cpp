#include "troupe/actors/execution/outlet.hpp"

#include "tests/serialization/wire/link_pair.hpp"
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <random>
#include <thread>

namespace troupe::test::outlet_test {

using testing::options_of;
using testing::peer_end;

namespace {

// A socket that takes what it likes, and nothing now and then.
class moody_stream final : public byte_stream {
public:
  explicit moody_stream(unsigned seed) : dice_(seed) {}
  int id() const noexcept override { return 7; }
  ssize_t read(std::span<const iovec>) override { return 0; }
  ssize_t write(std::span<const iovec> pieces) override {
    CHECK(!writing_.exchange(true));
    size_t offered = 0;
    for (const auto& one : pieces)
      offered += one.iov_len;
    auto takes = dice_() % 3 == 0 ? 0 : 1 + dice_() % (2 * offered);
    auto left = std::min(offered, takes);
    for (const auto& one : pieces) {
      auto part = std::min(one.iov_len, left);
      left -= part;
      const auto* from = static_cast<const char*>(one.iov_base);
      bytes.insert(bytes.end(), from, from + part);
    }
    writing_ = false;
    errno = EAGAIN;
    return takes == 0 ? -1 : static_cast<ssize_t>(std::min(offered, takes));
  }
  void end_writing() override {}
  void end() override {}
  void drop_input() override {}

  std::vector<char> bytes; // that have left

private:
  std::mt19937 dice_;
  std::atomic<bool> writing_{false};
};

struct noting_loop final : io_loop {
  status add(int, socket_handler&, std::chrono::milliseconds, std::shared_ptr<void>) override {
    return {};
  }
  void want_writable(int, bool wants) override { wanted = wants; }
  void remove(int) override {}
  allocator& memory() noexcept override { return heap_allocator(); }
  std::atomic<bool> wanted{false};
};

} // namespace

TEST_CASE("whatever threads write at once, all leaves, or the loop is asked to go on") {
  actor_world world;
  auto owner =
      world.system().spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; });
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    peer_end from{options_of("task")}, to{options_of("task")};
    REQUIRE(testing::exchange(from, to).ok());
    moody_stream stream{seed};
    noting_loop loop;
    outlet out{stream, loop, from.it, *caf::actor_cast<caf::abstract_actor*>(owner)};
    constexpr uint64_t threads = 4, each = 200;
    std::atomic<uint64_t> writers{threads};
    {
      std::vector<std::jthread> all;
      for (uint64_t i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
          for (uint64_t n = 0; n < each; ++n) {
            std::optional<write_batch> batch;
            if (n % 7 == i)
              batch.emplace();
            if (!from.it.send(settle_step{{i, n}}).ok())
              std::abort();
            out.write_some();
          }
          --writers;
        });
      all.emplace_back([&] { // as the loop does while it is asked to
        while (writers > 0)
          if (loop.wanted)
            out.flush();
          else
            std::this_thread::yield();
      });
    }
    // Nobody comes any more but the loop: what lies there would lie for ever.
    while (loop.wanted)
      out.flush();
    CHECK(from.it.idle());
    REQUIRE(to.give({stream.bytes.data(), stream.bytes.size()}).ok());
    CHECK(to.got.size() == threads * each);
    std::array<uint64_t, threads> next{};
    for (const auto& one : to.got) {
      auto step = std::get<settle_step>(one).step;
      CHECK(step.sequence == next.at(step.session)++);
    }
  }
  caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
  owner = nullptr;
  world.run();
}

} // namespace troupe::test::outlet_test
