// An attacker between a client and its task, through whom all bytes pass.
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

// Relays connections to a port. In the first connection, after the client has sent enough records,
// one TLS record is tampered with; everything else passes unchanged.
class relay {
public:
  relay(uint16_t target_port, manner manner_of_relay)
      : manner_(manner_of_relay), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in socket_address{};
    socket_address.sin_family = AF_INET;
    socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof socket_address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&socket_address), size) == 0);
    REQUIRE(::listen(listener_, 16) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&socket_address), &size) == 0);
    port_ = ntohs(socket_address.sin_port);
    thread_ =
        std::jthread{[this, target_port](const std::stop_token& stop) { run(target_port, stop); }};
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
    std::string waiting, held_back; // from the client: less than a record; a delayed record
    int records = 0;
    bool has_ended = false;
  };

  void run(uint16_t target_port, const std::stop_token& stop) {
    std::vector<connection> connections;
    while (!stop.stop_requested()) {
      std::vector<pollfd> polled{{listener_, POLLIN, 0}};
      for (auto& relayed : connections)
        for (auto* end : {&relayed.client, &relayed.task})
          polled.push_back({relayed.has_ended ? -1 : end->descriptor(), POLLIN, 0});
      if (::poll(polled.data(), polled.size(), 20) <= 0)
        continue;
      for (size_t i = 0; i < connections.size(); ++i) {
        auto& relayed = connections[i];
        if (polled[1 + 2 * i].revents)
          take(relayed, i == 0);
        if (polled[2 + 2 * i].revents)
          pass(relayed);
        if (relayed.has_ended) {
          ended_ = ended_ || i == 0;
          ::shutdown(relayed.client.descriptor(), SHUT_RDWR);
          ::shutdown(relayed.task.descriptor(), SHUT_RDWR);
        }
      }
      if (polled[0].revents)
        connections.push_back(
            {plain_connection{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)},
             plain_connection{target_port},
             {},
             {}});
    }
  }

  static std::string read(plain_connection& from) {
    char bytes[16 * 1024];
    auto received = ::recv(from.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
    return {bytes, static_cast<size_t>(std::max<ssize_t>(received, 0))};
  }

  static void pass(connection& relayed) {
    auto bytes = read(relayed.task);
    relayed.has_ended = bytes.empty() || !relayed.client.write(bytes);
  }

  void take(connection& relayed, bool first) {
    constexpr size_t header = 5;
    auto bytes = read(relayed.client);
    relayed.has_ended = bytes.empty();
    relayed.waiting += bytes;
    auto size_of = [](const std::string& text) {
      return header + (static_cast<size_t>(static_cast<unsigned char>(text[3])) << 8) +
             static_cast<unsigned char>(text[4]);
    };
    while (relayed.waiting.size() >= header && relayed.waiting.size() >= size_of(relayed.waiting)) {
      auto record = relayed.waiting.substr(0, size_of(relayed.waiting));
      relayed.waiting.erase(0, record.size());
      relayed.records += record[0] == 0x17; // after the handshake, mostly
      relayed.task.write(first ? tampered_with(relayed, std::move(record)) : record);
    }
  }

  std::string tampered_with(connection& relayed, std::string record) {
    constexpr int tampered_record = 12;
    if (relayed.records < tampered_record)
      return record;
    if (relayed.records > tampered_record)
      return record + std::exchange(relayed.held_back, {});
    tampered_ = true;
    switch (manner_) {
      case manner::changes: record.back() ^= 1; return record;
      case manner::repeats: return record + record;
      case manner::swaps: relayed.held_back = std::move(record); return {};
      case manner::drops: return {};
    }
    return record;
  }

  const manner manner_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<bool> tampered_{false}, ended_{false};
  std::jthread thread_;
};

} // namespace

TEST_CASE("changed, repeated, swapped or dropped bytes end the connection, and nothing else") {
  watchdog watch;
  for (auto tampering : {manner::changes, manner::repeats, manner::swaps, manner::drops}) {
    INFO(static_cast<int>(tampering));
    secure_cluster cluster{1, true, 3s};
    relay tampering_relay{cluster.port(), tampering};
    cluster_spec relayed_cluster;
    relayed_cluster.jobs["worker"] = {concat("127.0.0.1:", tampering_relay.port())};
    auto client = secure_cluster::connect(cluster.authority.client("alice"), relayed_cluster);
    const text_case small{small_text};
    status failed;
    int successes = 0;
    auto end = step_clock::now() + 20s;
    while (failed.ok() && !tampering_relay.tampered_connection_ended() && step_clock::now() < end)
      if (auto outcome = run(*client, small); !outcome) {
        failed = outcome.status();
      } else {
        CHECK(outcome->front().data<int32_t>()[0] == 3);
        ++successes;
      }
    INFO(failed);
    CHECK(tampering_relay.tampered());
    // A step whose answer came before the connection ended does not fail: a repeated record, for
    // example, is read once before its copy ends the connection.
    if (!failed.ok()) {
      CHECK(failed.kind() == error_kind::unavailable);
      CHECK(failed.message().find("/job:worker/task:0") != std::string::npos);
    }
    CHECK(successes > 1);
    for (end = step_clock::now() + 10s;
         !tampering_relay.tampered_connection_ended() && step_clock::now() < end;)
      std::this_thread::sleep_for(1ms);
    CHECK(tampering_relay.tampered_connection_ended());
    // The client continues over another connection.
    status retried{error_kind::unavailable, "not run"};
    for (end = step_clock::now() + 10s; !retried.ok() && step_clock::now() < end;)
      retried = run(*client, small).status();
    CHECK(retried.ok());
    CHECK(cluster.runs_steps());
  }
}

} // namespace troupe::test::tampered_connection_test
