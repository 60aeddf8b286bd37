// Drives fuzz targets without libFuzzer, so that every compiler can run them under ctest. `fuzz
// TARGET`: replays the seed corpus, every prefix of small seeds, then mutated seeds and random
// bytes for FUZZ_SECONDS (1) from FUZZ_SEED (fixed, printed). `fuzz TARGET FILE...`: replays files.
// The input that ends the process is stored in `crash-<target>` and its path printed.
#include "tests/fuzz/targets.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

using bytes = std::vector<uint8_t>;
using clock = std::chrono::steady_clock;

constexpr size_t largest_input = 1 << 16;
constexpr unsigned longest_run_seconds = 20;

// The input under test, which a crashing process saves.
bytes current;
const troupe::fuzz::target* chosen = nullptr;

// Calls only functions that are allowed in a signal handler.
void save_input() {
  const int file = ::open(chosen->crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0)
    return;
  size_t done = 0;
  while (done < current.size()) {
    const auto n = ::write(file, current.data() + done, current.size() - done);
    if (n <= 0)
      break;
    done += static_cast<size_t>(n);
  }
  ::close(file);
  for (const char* text :
       {"\nthe input is in ./", chosen->crash_file, "; pass this name to replay it\n"})
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void on_signal(int number) {
  if (number == SIGALRM) {
    constexpr char text[] = "\none input took more than 20 seconds";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
  }
  save_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void install_crash_handlers() {
  for (int number : {SIGABRT, SIGALRM, SIGFPE, SIGILL, SIGTERM})
    std::signal(number, on_signal);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(save_input);
#else
  for (int number : {SIGSEGV, SIGBUS})
    std::signal(number, on_signal);
#endif
}

void run(const bytes& input) {
  // An exact copy, so that a sanitizer sees reads past its end.
  current.assign(input.begin(), input.end());
  current.shrink_to_fit();
  ::alarm(longest_run_seconds);
  chosen->run(current.data(), current.size());
}

bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return bytes(std::istreambuf_iterator<char>(in), {});
}

std::vector<bytes> read_corpus() {
  std::vector<std::filesystem::path> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(chosen->corpus, none))
    if (entry.is_regular_file())
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end()); // the same run on every file system
  std::vector<bytes> corpus;
  for (const auto& path : paths)
    corpus.push_back(read_file(path));
  return corpus;
}

class mutator {
public:
  mutator(uint64_t seed, const std::vector<bytes>& corpus) : random_(seed), corpus_(corpus) {}

  bytes next() {
    if (corpus_.empty() || below(16) == 0)
      return random_bytes(below(512));
    bytes result = corpus_[below(corpus_.size())];
    for (auto n = 1 + below(below(4) == 0 ? 32 : 4); n > 0; --n)
      mutate(result);
    if (result.size() > largest_input)
      result.resize(largest_input);
    return result;
  }

private:
  size_t below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random_() % limit); }

  bytes random_bytes(size_t size) {
    bytes result(size);
    for (auto& byte : result)
      byte = static_cast<uint8_t>(random_());
    return result;
  }

  void mutate(bytes& input) {
    if (input.empty()) {
      input = random_bytes(1 + below(64));
      return;
    }
    const auto at = below(input.size());
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto length = 1 + below(std::min<size_t>(input.size() - at, 64));
    const auto stop = place + static_cast<std::ptrdiff_t>(length);
    switch (below(8)) {
      case 0: *place ^= static_cast<uint8_t>(1u << below(8)); break;
      case 1: *place = static_cast<uint8_t>(random_()); break;
      case 2: write_number(input, at); break;
      case 3: input.erase(place, stop); break;
      case 4: input.resize(at); break;
      case 5: {
        const auto added = random_bytes(length);
        input.insert(place, added.begin(), added.end());
        break;
      }
      case 6: {
        const bytes copied(place, stop);
        const auto target = input.begin() + static_cast<std::ptrdiff_t>(below(input.size() + 1));
        input.insert(target, copied.begin(), copied.end());
        break;
      }
      default: splice(input, at); break;
    }
  }

  // Lengths and counts break parsers if they are extreme, or off by one.
  void write_number(bytes& input, size_t at) {
    static constexpr std::array<uint64_t, 14> numbers{0,
                                                      1,
                                                      0x7f,
                                                      0x80,
                                                      0xff,
                                                      0x7fff,
                                                      0xffff,
                                                      0x7fffffff,
                                                      0x80000000,
                                                      0xffffffff,
                                                      0x7fffffffffffffff,
                                                      0x8000000000000000,
                                                      0xffffffffffffffff,
                                                      0x4000000000000000};
    auto number = numbers[below(numbers.size())] + below(3) - 1;
    const auto width = std::min<size_t>(size_t{1} << below(4), input.size() - at);
    if (below(4) == 0) {
      for (size_t i = 0; i < width; ++i, number >>= 8)
        input[at + width - 1 - i] = static_cast<uint8_t>(number);
    } else {
      for (size_t i = 0; i < width; ++i, number >>= 8)
        input[at + i] = static_cast<uint8_t>(number);
    }
  }

  void splice(bytes& input, size_t at) {
    const auto& second_seed = corpus_[below(corpus_.size())];
    if (second_seed.empty())
      return;
    const auto from = below(second_seed.size());
    input.resize(at);
    input.insert(input.end(), second_seed.begin() + static_cast<std::ptrdiff_t>(from),
                 second_seed.end());
  }

  std::mt19937_64 random_;
  const std::vector<bytes>& corpus_;
};

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

size_t run_seeds(const std::vector<bytes>& corpus) {
  size_t runs = 0;
  run({});
  ++runs;
  for (const auto& seed : corpus) {
    run(seed);
    ++runs;
    for (size_t size = 1; size < seed.size() && size <= 256; ++size, ++runs)
      run(bytes(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  return runs;
}

} // namespace

int main(int argc, char** argv) {
  for (const auto& target : troupe::fuzz::targets())
    if (argc > 1 && std::strcmp(argv[1], target.name) == 0)
      chosen = &target;
  if (chosen == nullptr) {
    std::fprintf(stderr, "usage: fuzz TARGET [FILE...]; targets are");
    for (const auto& target : troupe::fuzz::targets())
      std::fprintf(stderr, " %s", target.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  install_crash_handlers();
  if (argc > 2) {
    for (int i = 2; i < argc; ++i) {
      std::printf("replaying %s\n", argv[i]);
      std::fflush(stdout);
      run(read_file(argv[i]));
    }
    return 0;
  }

  const auto seed = number_from_environment("FUZZ_SEED", 20161102);
  const auto seconds = number_from_environment("FUZZ_SECONDS", 1);
  const auto corpus = read_corpus();
  std::printf("%s: %zu seeds in the corpus, FUZZ_SEED=%llu, FUZZ_SECONDS=%llu\n", chosen->name,
              corpus.size(), static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(seconds));
  std::fflush(stdout);

  auto runs = run_seeds(corpus);
  mutator inputs(seed, corpus);
  for (const auto end = clock::now() + std::chrono::seconds(seconds); clock::now() < end; ++runs)
    run(inputs.next());
  ::alarm(0);
  std::printf("%s: %zu inputs, no crash\n", chosen->name, runs);
}
