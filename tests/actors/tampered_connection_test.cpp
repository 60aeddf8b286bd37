// Somebody between a client and its task who has what they say pass through his hands.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test::tampered_connection_test {

using namespace std::chrono_literals;

namespace {

enum class manner { changes, repeats, swaps, drops };

// Relays connections to a port. Of the first, once the client has said enough, one record of TLS
// is treated so; all else passes as it is.
class relay {
public:
  relay(uint16_t to, manner how)
      : how_(how), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(listener_, 16) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port_ = ntohs(at.sin_port);
    thread_ = std::jthread{[this, to](const std::stop_token& stop) { run(to, stop); }};
  }
  ~relay() {
    thread_ = {};
    ::close(listener_);
  }
  uint16_t port() const { return port_; }
  bool tampered() const { return tampered_; }
  bool tampered_connection_ended() const { return ended_; }

private:
  struct connection {
    plain_connection client, task;
    std::string waiting, held; // of the client's: less than a record; one that is held back
    int records = 0;
    bool ended = false;
  };

  void run(uint16_t to, const std::stop_token& stop) {
    std::vector<connection> all;
    while (!stop.stop_requested()) {
      std::vector<pollfd> waits{{listener_, POLLIN, 0}};
      for (auto& one : all)
        for (auto* end : {&one.client, &one.task})
          waits.push_back({one.ended ? -1 : end->descriptor(), POLLIN, 0});
      if (::poll(waits.data(), waits.size(), 20) <= 0)
        continue;
      for (size_t i = 0; i < all.size(); ++i) {
        auto& one = all[i];
        if (waits[1 + 2 * i].revents)
          take(one, i == 0);
        if (waits[2 + 2 * i].revents)
          pass(one);
        if (one.ended) {
          ended_ = ended_ || i == 0;
          ::shutdown(one.client.descriptor(), SHUT_RDWR);
          ::shutdown(one.task.descriptor(), SHUT_RDWR);
        }
      }
      if (waits[0].revents)
        all.push_back({plain_connection{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)},
                       plain_connection{to},
                       {},
                       {}});
    }
  }

  static std::string read(plain_connection& from) {
    char bytes[16 * 1024];
    auto came = ::recv(from.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
    return {bytes, static_cast<size_t>(std::max<ssize_t>(came, 0))};
  }

  static void pass(connection& one) {
    auto bytes = read(one.task);
    one.ended = bytes.empty() || !one.client.write(bytes);
  }

  void take(connection& one, bool first) {
    constexpr size_t header = 5;
    auto bytes = read(one.client);
    one.ended = bytes.empty();
    one.waiting += bytes;
    auto size_of = [](const std::string& text) {
      return header + (static_cast<size_t>(static_cast<unsigned char>(text[3])) << 8) +
             static_cast<unsigned char>(text[4]);
    };
    while (one.waiting.size() >= header && one.waiting.size() >= size_of(one.waiting)) {
      auto record = one.waiting.substr(0, size_of(one.waiting));
      one.waiting.erase(0, record.size());
      one.records += record[0] == 0x17; // behind the handshake, mostly
      one.task.write(first ? tampered_with(one, std::move(record)) : record);
    }
  }

  std::string tampered_with(connection& one, std::string record) {
    constexpr int which = 12;
    if (one.records < which)
      return record;
    if (one.records > which)
      return record + std::exchange(one.held, {});
    tampered_ = true;
    switch (how_) {
      case manner::changes: record.back() ^= 1; return record;
      case manner::repeats: return record + record;
      case manner::swaps: one.held = std::move(record); return {};
      case manner::drops: return {};
    }
    return record;
  }

  const manner how_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<bool> tampered_{false}, ended_{false};
  std::jthread thread_;
};

} // namespace

TEST_CASE("a connection whose bytes are changed, repeated, swapped or dropped ends, and no other") {
  watchdog watch;
  for (auto how : {manner::changes, manner::repeats, manner::swaps, manner::drops}) {
    INFO(static_cast<int>(how));
    secure_cluster here{1, true, 3s};
    relay between{here.port(), how};
    cluster_spec through;
    through.jobs["worker"] = {concat("127.0.0.1:", between.port())};
    auto client = secure_cluster::connect(here.authority.client("alice"), through);
    const text_case small{small_text};
    status failed;
    int well = 0;
    auto end = step_clock::now() + 20s;
    while (failed.ok() && !between.tampered_connection_ended() && step_clock::now() < end)
      if (auto outcome = run(*client, small); !outcome) {
        failed = outcome.status();
      } else {
        CHECK(outcome->front().data<int32_t>()[0] == 3);
        ++well;
      }
    INFO(failed);
    CHECK(between.tampered());
    // A step whose answer came before the connection ended does not fail: a repeated record, for
    // example, is read once before its copy ends the connection.
    if (!failed.ok()) {
      CHECK(failed.kind() == error_kind::unavailable);
      CHECK(failed.message().find("/job:worker/task:0") != std::string::npos);
    }
    CHECK(well > 1);
    for (end = step_clock::now() + 10s;
         !between.tampered_connection_ended() && step_clock::now() < end;)
      std::this_thread::sleep_for(1ms);
    CHECK(between.tampered_connection_ended());
    // Steps go on over another connection.
    status again{error_kind::unavailable, "not run"};
    for (end = step_clock::now() + 10s; !again.ok() && step_clock::now() < end;)
      again = run(*client, small).status();
    CHECK(again.ok());
    CHECK(here.lives());
  }
}

} // namespace troupe::test::tampered_connection_test
