#include "tests/support/catch.hpp"
#include "troupe/runtime/state/staging_area.hpp"

#include <map>
#include <optional>
#include <random>
#include <set>

namespace troupe::test::staging_area_random_test {

namespace {

const status stopped = failure(error_kind::cancelled, "stopped");

// Random requests of steps that succeed or fail. The tuples in the area, those that steps hold and
// those consumed are all tuples that were put, each once; no request waits forever.
class random_area_requests {
public:
  explicit random_area_requests(unsigned seed) : dice_(seed) {}

  void run(int requests) {
    for (int i = 0; i < requests; ++i) {
      act(static_cast<uint64_t>(i));
      read_answers();
      check();
    }
  }

private:
  int below(int bound) { return static_cast<int>(dice_() % static_cast<unsigned>(bound)); }

  void act(uint64_t id) {
    if (running_.size() < 6)
      running_.push_back(++last_step_);
    auto step = running_[static_cast<size_t>(below(static_cast<int>(running_.size())))];
    request_id request{{0, step}, id};
    auto event = below(100);
    if (event < 40)
      put(request);
    else if (event < 75)
      take(request);
    else
      end_step(step, below(2) == 0);
  }

  void put(request_id request) {
    puts_[request.number] = next_;
    auto value = tensor::scalar(next_);
    if (order_ == staging_order::fifo)
      area_->put(request, {value}, done_);
    else
      area_->put(request, {.key = next_, .indices = {0}}, {value}, done_);
    ++next_;
  }

  void take(request_id request) {
    auto key = order_ == staging_order::by_key && next_ > 0 && below(2) == 0
                   ? std::optional{next_ - 1 - below(static_cast<int>(std::min<int64_t>(next_, 8)))}
                   : std::nullopt;
    takes_[request.number] = key;
    area_->take(request, {.key = key}, done_);
  }

  // Waiting requests are cancelled, and taken tuples are returned or consumed.
  void end_step(uint64_t step, bool failed) {
    area_->cancel(step_id{0, step}, stopped, done_);
    read_answers();
    CHECK(area_->holds_for({0, step}) == !held_values_[step].empty());
    if (failed)
      in_.merge(held_values_[step]);
    held_values_.erase(step);
    area_->end_step({0, step}, failed, done_);
    std::erase(running_, step);
  }

  void read_answers() {
    for (auto& answered : std::exchange(done_, {})) {
      auto id = answered.id.number;
      if (auto put = puts_.extract(id); !put.empty() && answered.outcome.ok())
        REQUIRE(in_.insert(put.mapped()).second);
      auto take = takes_.extract(id);
      if (take.empty() || !answered.outcome.ok())
        continue;
      auto value = *answered.tensors.back().data<int64_t>();
      REQUIRE(in_.contains(value)); // neither invented nor returned twice
      if (take.mapped())
        REQUIRE(value == *take.mapped());
      else if (order_ == staging_order::fifo)
        REQUIRE(value == *in_.begin());
      in_.erase(value);
      held_values_[answered.id.step.sequence].insert(value);
    }
  }

  void check() const {
    REQUIRE(area_->size() == static_cast<int64_t>(in_.size()));
    if (!puts_.empty())
      REQUIRE((capacity_ > 0 && area_->size() >= capacity_));
    for (const auto& [taker, key] : takes_)
      REQUIRE((key ? !in_.contains(*key) : in_.empty()));
  }

  std::mt19937 dice_;
  staging_order order_ = below(2) == 0 ? staging_order::fifo : staging_order::by_key;
  int64_t capacity_ = below(2) == 0 ? 0 : 1 + below(5);
  std::unique_ptr<staging_area> area_ =
      *staging_area::make({.name = "s", .order = order_, .capacity = capacity_});
  std::set<int64_t> in_;
  std::map<uint64_t, std::set<int64_t>> held_values_;
  std::map<uint64_t, int64_t> puts_;                 // waiting puts, by request
  std::map<uint64_t, std::optional<int64_t>> takes_; // waiting takes; of a key, or of any
  answers done_;
  int64_t next_ = 0;
  uint64_t last_step_ = 0;
  std::vector<uint64_t> running_;
};

void check_random_requests(unsigned seed, int requests) {
  INFO("seed " << seed);
  random_area_requests{seed}.run(requests);
}

} // namespace

TEST_CASE("a staging area loses no tuple, whichever steps fail") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round)
    check_random_requests(base + round, 200);
}

TEST_CASE("a staging area loses no tuple through a million requests", "[slow]") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 2000; ++round)
    check_random_requests(base + round, 500);
}

} // namespace troupe::test::staging_area_random_test
