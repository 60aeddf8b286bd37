// Plain loops over a TCP connection of the loopback interface, as iperf3 runs them: what exchanges
// and reductions are held to. Both ends are threads of this process, which costs what processes do.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

namespace troupe::bench {
namespace {

constexpr size_t piece = 128 * 1024; // that iperf3 reads and writes at once

// Its two ends.
class connection {
public:
  connection() {
    auto listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    ends_[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(listener, generic, size) == 0 && ::listen(listener, 1) == 0 &&
        ::getsockname(listener, generic, &size) == 0 && ::connect(ends_[0], generic, size) == 0)
      ends_[1] = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    if (ends_[1] < 0)
      throw error{failure(error_kind::unavailable, "no connection over the loopback interface")};
    for (auto one : ends_) {
      int on = 1;
      ::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    for (auto one : ends_)
      if (one >= 0)
        ::close(one);
  }

  bool write(int end, size_t bytes) const {
    std::vector<char> from(std::min(bytes, piece));
    for (size_t done = 0; done < bytes;) {
      auto sent =
          ::send(ends_[end], from.data(), std::min(from.size(), bytes - done), MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      done += static_cast<size_t>(sent);
    }
    return true;
  }
  bool read(int end, size_t bytes) const {
    std::vector<char> to(std::min(bytes, piece));
    for (size_t done = 0; done < bytes;) {
      auto got = ::recv(ends_[end], to.data(), std::min(to.size(), bytes - done), 0);
      if (got <= 0)
        return false;
      done += static_cast<size_t>(got);
    }
    return true;
  }
  // Whoever reads at the other end finds nothing more.
  void end() const { ::shutdown(ends_[0], SHUT_RDWR); }

private:
  int ends_[2] = {-1, -1};
};

// One end asks with four bytes, the other answers with that many.
void one_way(benchmark::State& state, size_t bytes) {
  connection between;
  std::jthread other{[&] {
    while (between.read(1, 4) && between.write(1, bytes))
      ;
  }};
  for (auto _ : state)
    if (!between.write(0, 4) || !between.read(0, bytes))
      state.SkipWithError("the connection has ended");
  between.end();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

// Both ends send that many, and read as many.
void both_ways(benchmark::State& state, size_t bytes) {
  connection there, back;
  std::jthread other{[&] {
    while (there.read(1, 4)) {
      std::jthread sends{[&] { back.write(1, bytes); }};
      there.read(1, bytes);
    }
  }};
  for (auto _ : state) {
    there.write(0, 4);
    std::jthread sends{[&] { there.write(0, bytes); }};
    if (!back.read(0, bytes))
      state.SkipWithError("the connection has ended");
  }
  there.end();
  back.end();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

} // namespace

void register_wire() {
  benchmark::RegisterBenchmark("wire/4B", [](benchmark::State& state) {
    one_way(state, 4);
  })->UseRealTime();
  benchmark::RegisterBenchmark("wire/100MB",
                               [](benchmark::State& state) { one_way(state, 100'000'000); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("wire/100MB_both_ways",
                               [](benchmark::State& state) { both_ways(state, 100'000'000); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

} // namespace troupe::bench
