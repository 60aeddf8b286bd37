// troupe_simulate: a cluster in one thread and in virtual time, with faults that a seed draws.
#include "tests/simulate/runner.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace troupe::simulate {
namespace {

const char* help =
    R"(troupe_simulate: runs clusters in one thread, in virtual time, with faults that seeds draw

  --seed N             runs one seed in this process
  --seeds A..B         runs many, each in a process of its own, and says which failed
  --trace              prints a line for each event: time, who, what, and more; with --seed
  --set NAME=VALUE     replaces what the seed draws for an option; may stand several times
  --event EVENT        a fault at a time, such as '12.5 partition worker:0 ps:1 for 3'; may stand several
                       times, and is in the place of all that the seed draws. Faults are crash and
                       replace (of which no peer is told), pause, shortage and reopen of one process,
                       partition, stop (of what the first sends) and loss of the connections of two
  --shrink             switches the options of a failing seed off one by one while it fails; with --seed
  --replay A..B        runs each seed twice and compares what is printed
  --canary NAME        plants a defect, which must be found: repeat (a client sends an update again
                       that may have happened), deaf (tasks never look for silent peers); with --seeds
  --jobs N             seeds that run at once (1)
  --probes             fails unless all places that the sources mark were reached
  --keep-going         does not end at the tenth seed that fails
  --help               prints this

Fails with 1 where a promise was broken (a canary: where none was). The options and what is drawn:

)";

struct arguments {
  std::optional<std::pair<uint64_t, uint64_t>> seeds;
  bool one = false, trace = false, shrink = false, replay = false, probes = false, on = false;
  size_t jobs = 1;
  canary planted = canary::none;
  std::vector<std::string> set, events;
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "troupe_simulate: %s; see --help\n", why.c_str());
  std::exit(2);
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    give_up(concat("'", text, "' is no number"));
  return value;
}

std::pair<uint64_t, uint64_t> range(std::string_view text) {
  auto dots = text.find("..");
  if (dots == text.npos)
    give_up(concat("'", text, "' is no range, such as 1..100"));
  return {number(text.substr(0, dots)), number(text.substr(dots + 2))};
}

arguments read(int count, char** words) {
  arguments made;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    auto value = [&]() -> std::string_view {
      return i + 1 < count ? words[++i] : (give_up(concat(word, " needs a value")), "");
    };
    if (word == "--seed") {
      auto seed = number(value());
      made.seeds = {seed, seed};
      made.one = true;
    } else if (word == "--seeds") {
      made.seeds = range(value());
    } else if (word == "--replay") {
      made.seeds = range(value());
      made.replay = true;
    } else if (word == "--set") {
      made.set.emplace_back(value());
    } else if (word == "--event") {
      made.events.emplace_back(value());
    } else if (word == "--jobs") {
      made.jobs = std::max<size_t>(1, number(value()));
    } else if (word == "--canary") {
      auto name = value();
      if (name != "repeat" && name != "deaf")
        give_up(concat("there is no canary '", name, "'"));
      made.planted = name == "repeat" ? canary::repeated_updates : canary::deaf_listener;
    } else if (word == "--trace") {
      made.trace = true;
    } else if (word == "--shrink") {
      made.shrink = true;
    } else if (word == "--probes") {
      made.probes = true;
    } else if (word == "--keep-going") {
      made.on = true;
    } else if (word == "--help" || word == "-h") {
      std::fputs(help, stdout);
      for (const auto& one : all_options())
        std::printf("  %-16s %s\n", one.name, one.doc);
      std::exit(0);
    } else {
      give_up(concat("unknown argument '", word, "'"));
    }
  }
  if (!made.seeds)
    give_up("which seed?");
  return made;
}

options drawn(uint64_t seed, const arguments& with) {
  auto made = options::draw(seed);
  if (!with.events.empty())
    made.calm();
  for (const auto& one : with.set)
    if (auto done = made.set(one); !done)
      give_up(done.message());
  const layout there = layout_of(made);
  for (const auto& text : with.events) {
    auto one = scripted_fault::parse(text);
    if (!one)
      give_up(one.status().message());
    for (const auto* name : {&one->first, &one->second})
      if (auto found = index_in(there, *name); !name->empty() && !found)
        give_up(found.status().message());
    // A task is started, ended or short of memory, a session is opened.
    auto of_client = one->first.starts_with("client:");
    if ((one->kind == "reopen") != of_client && (one->kind == "reopen" || one->kind == "crash" ||
                                                 one->kind == "replace" || one->kind == "shortage"))
      give_up(concat("'", text, "': a ", one->kind, " is of a ", of_client ? "task" : "client"));
    auto end = std::chrono::ceil<std::chrono::seconds>(one->at + one->lasts).count();
    made.fault_seconds = std::max<int64_t>(made.fault_seconds, end + 1);
    made.script.push_back(*std::move(one));
  }
  return made;
}

std::string promise_of(const std::string& found) { return found.substr(0, found.find(':')); }

int run_one(const arguments& with) {
  auto what = drawn(with.seeds->first, with);
  std::printf("%s\n", to_string(what).c_str());
  auto made = run_here({what, with.planted}, with.trace);
  std::printf("%s\n", made.what.found.empty() ? "all promises were kept" : made.what.found.c_str());
  std::printf("%.1f virtual s, %llu steps succeeded, %llu failed, %llu faults, %llu messages\n",
              made.what.virtual_seconds, static_cast<unsigned long long>(made.what.succeeded),
              static_cast<unsigned long long>(made.what.failed),
              static_cast<unsigned long long>(made.what.faults),
              static_cast<unsigned long long>(made.what.messages));
  return made.what.found.empty() ? 0 : 1;
}

int shrink(const arguments& with) {
  auto what = drawn(with.seeds->first, with);
  auto found = [&](const options& tried) {
    std::string promise;
    std::vector<run_choice> one{{tried, with.planted}};
    run_apart(one, 1, [&](const run_choice&, const run_result& made) {
      promise = promise_of(made.what.found);
      return true;
    });
    return promise;
  };
  auto promise = found(what);
  if (promise.empty())
    return std::printf("seed %llu keeps all promises\n",
                       static_cast<unsigned long long>(what.seed)),
           1;
  std::printf("broken: %s\n", promise.c_str());
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const auto& one : all_options()) {
      auto value = what.*one.value;
      for (auto tried : {one.off, (one.off + value) / 2}) {
        if (tried == what.*one.value)
          continue;
        auto less = what;
        less.*one.value = tried;
        if (found(less) != promise)
          continue;
        what = less;
        smaller = true;
        std::printf("  still with %s=%lld\n", one.name, static_cast<long long>(tried));
        std::fflush(stdout);
        break;
      }
    }
  }
  auto full = options::draw(what.seed);
  std::string command = concat("troupe_simulate --seed ", what.seed);
  for (const auto& one : all_options())
    if (what.*one.value != full.*one.value)
      command += concat(" --set ", one.name, '=', what.*one.value);
  std::printf("%s --trace\n", command.c_str());
  return 0;
}

int replay(const arguments& with) {
  int different = 0;
  for (auto seed = with.seeds->first; seed <= with.seeds->second; ++seed) {
    std::vector<std::string> words{"--seed", std::to_string(seed), "--trace"};
    for (const auto& one : with.set)
      words.insert(words.end(), {"--set", one});
    for (const auto& one : with.events)
      words.insert(words.end(), {"--event", one});
    auto first = output_of(words), second = output_of(words);
    if (first == second && !first.empty())
      continue;
    ++different;
    auto at = std::ranges::mismatch(first, second).in1 - first.begin();
    auto line = std::count(first.begin(), first.begin() + at, '\n') + 1;
    std::printf("seed %llu: two runs differ from line %lld on\n",
                static_cast<unsigned long long>(seed), static_cast<long long>(line));
  }
  std::printf("%llu seeds ran twice, %d differ\n",
              static_cast<unsigned long long>(with.seeds->second - with.seeds->first + 1),
              different);
  return different > 0;
}

int run_many(const arguments& with) {
  std::vector<run_choice> all;
  for (auto seed = with.seeds->first; seed <= with.seeds->second; ++seed)
    all.push_back({drawn(seed, with), with.planted});
  uint64_t failed = 0, ran = 0, hits = 0;
  outcome sum;
  double seconds = 0;
  run_apart(all, with.jobs, [&](const run_choice& what, const run_result& made) {
    ++ran;
    seconds += made.seconds;
    hits |= made.probes_hit;
    sum.virtual_seconds += made.what.virtual_seconds;
    sum.succeeded += made.what.succeeded;
    sum.failed += made.what.failed;
    sum.faults += made.what.faults;
    sum.messages += made.what.messages;
    if (made.what.found.empty())
      return true;
    ++failed;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(what.with.seed),
                made.what.found.c_str());
    std::fflush(stdout);
    return with.planted == canary::none && (with.on || failed < 10);
  });
  std::printf(
      "%llu seeds, %llu failed; %.0f virtual s in %.1f s of a core: %.0f times as fast, %.1f "
      "seeds/s\n"
      "%llu steps succeeded, %llu failed, %llu faults, %llu messages\n",
      static_cast<unsigned long long>(ran), static_cast<unsigned long long>(failed),
      sum.virtual_seconds, seconds, sum.virtual_seconds / seconds,
      static_cast<double>(ran) / seconds, static_cast<unsigned long long>(sum.succeeded),
      static_cast<unsigned long long>(sum.failed), static_cast<unsigned long long>(sum.faults),
      static_cast<unsigned long long>(sum.messages));
  if (with.planted != canary::none) {
    std::printf(failed ? "the canary was found\n" : "the canary was not found\n");
    return failed ? 0 : 1;
  }
  size_t missing = 0;
  const auto& probes = probes::all();
  for (size_t i = 0; i < probes.size(); ++i)
    if (!(hits >> i & 1)) {
      ++missing;
      std::printf("never reached: %s\n", probes[i]->name);
    }
  return failed > 0 || (with.probes && missing > 0);
}

} // namespace
} // namespace troupe::simulate

int main(int count, char** words) {
  using namespace troupe::simulate;
  auto with = read(count, words);
  auto code = with.replay   ? replay(with)
              : with.shrink ? shrink(with)
              : with.one    ? run_one(with)
                            : run_many(with);
  std::fflush(nullptr);
  std::_Exit(code); // a broken promise may have left actors behind
}
