#include "troupe/actors/execution/socket_writer.hpp"

#include "tests/serialization/wire/link_pair.hpp"
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <random>
#include <thread>

namespace troupe::test::socket_writer_test {

namespace {

// A socket that accepts a random number of bytes, and sometimes none.
class random_stream final : public byte_stream {
public:
  explicit random_stream(unsigned seed) : generator_(seed) {}
  int id() const noexcept override { return 7; }
  ssize_t read(std::span<const iovec>) override { return 0; }
  ssize_t write(std::span<const iovec> pieces) override {
    CHECK(!writing_.exchange(true));
    size_t offered = 0;
    for (const auto& piece : pieces)
      offered += piece.iov_len;
    auto accepted_bytes = generator_() % 3 == 0 ? 0 : 1 + generator_() % (2 * offered);
    auto bytes_left = std::min(offered, accepted_bytes);
    for (const auto& piece : pieces) {
      auto part = std::min(piece.iov_len, bytes_left);
      bytes_left -= part;
      const auto* from = static_cast<const char*>(piece.iov_base);
      bytes.insert(bytes.end(), from, from + part);
    }
    writing_ = false;
    errno = EAGAIN;
    return accepted_bytes == 0 ? -1 : static_cast<ssize_t>(std::min(offered, accepted_bytes));
  }
  void shut_down_writing() override {}
  void shut_down() override {}
  void drop_input() override {}

  std::vector<char> bytes; // bytes that were sent

private:
  std::mt19937 generator_;
  std::atomic<bool> writing_{false};
};

struct noting_loop final : io_loop {
  status add(int, socket_handler&, std::chrono::milliseconds, std::shared_ptr<void>) override {
    return {};
  }
  void want_writable(int, bool wants) override { is_wanted = wants; }
  void remove(int) override {}
  allocator& memory() noexcept override { return heap_allocator(); }
  std::atomic<bool> is_wanted{false};
};

} // namespace

TEST_CASE("concurrent writers lose no message: all are sent, or the loop is asked to flush") {
  actor_world world;
  auto owner =
      world.system().spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; });
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    peer_end from{options_of("task")}, to{options_of("task")};
    REQUIRE(test::exchange(from, to).ok());
    random_stream stream{seed};
    noting_loop loop;
    socket_writer writer{stream, loop, from.end_link,
                         *caf::actor_cast<caf::abstract_actor*>(owner)};
    constexpr uint64_t threads = 4, messages_each = 200;
    std::atomic<uint64_t> writers{threads};
    {
      std::vector<std::jthread> writer_threads;
      for (uint64_t i = 0; i < threads; ++i)
        writer_threads.emplace_back([&, i] {
          for (uint64_t n = 0; n < messages_each; ++n) {
            std::optional<write_batch> batch;
            if (n % 7 == i)
              batch.emplace();
            if (!from.end_link.send(settle_step{{i, n}}).ok())
              std::abort();
            writer.write_some();
          }
          --writers;
        });
      // Flushes while the loop's flag is set, as the I/O loop does.
      writer_threads.emplace_back([&] {
        while (writers > 0)
          if (loop.is_wanted)
            writer.flush();
          else
            std::this_thread::yield();
      });
    }
    // From now on only the loop flushes: bytes that are left without its flag set would never be
    // sent.
    while (loop.is_wanted)
      writer.flush();
    CHECK(from.end_link.idle());
    REQUIRE(to.give({stream.bytes.data(), stream.bytes.size()}).ok());
    CHECK(to.got.size() == threads * messages_each);
    std::array<uint64_t, threads> next{};
    for (const auto& written_item : to.got) {
      auto step = std::get<settle_step>(written_item).step;
      CHECK(step.sequence == next.at(step.session)++);
    }
  }
  caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
  owner = nullptr;
  world.run();
}

} // namespace troupe::test::socket_writer_test
