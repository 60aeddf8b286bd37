#include "examples/support/progress.hpp"
// Prints the progress of a training run.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace examples {
namespace {

constexpr int bar_width = 30;
constexpr int lines_without_terminal = 10;
constexpr std::chrono::milliseconds redraw{100};

} // namespace

void progress::mean::add(float loss) {
  sum += static_cast<double>(loss);
  ++count;
}

double progress::mean::value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }

progress::progress(int64_t total) : total_(total), terminal_(isatty(STDOUT_FILENO)) {}

double progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void progress::step_done(float loss) {
  std::lock_guard guard{mutex_};
  ++done_;
  record(loss);
}

void progress::step_done(int64_t step, float loss) {
  std::lock_guard guard{mutex_};
  done_ = step;
  record(loss);
}

void progress::record(float loss) {
  loss_ = ++count_ == 1 ? loss : 0.95f * loss_ + 0.05f * loss;
  auto tenth = std::max<int64_t>(total_ / 10, 1);
  if (done_ <= tenth)
    first_.add(loss);
  if (done_ > total_ - tenth)
    last_.add(loss);
  if (terminal_) {
    auto now = std::chrono::steady_clock::now();
    if (now - drawn_ < redraw)
      return;
    drawn_ = now;
    draw(false);
  } else if (done_ % std::max<int64_t>(total_ / lines_without_terminal, 1) == 0) {
    draw(false);
  }
}

void progress::draw(bool last) {
  auto share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1.0;
  auto rate = static_cast<double>(count_) / std::max(seconds(), 1e-9);
  if (terminal_) {
    auto filled = static_cast<size_t>(share * bar_width);
    std::printf("\r[%-*s] %3.0f %%  %.0f steps/s  loss %.4f ", bar_width,
                std::string(filled, '#').c_str(), share * 100, rate, static_cast<double>(loss_));
    if (last)
      std::printf("\n");
  } else if (!last) {
    std::printf("step %5lld of %lld  %.0f steps/s  loss %.4f\n", static_cast<long long>(done_),
                static_cast<long long>(total_), rate, static_cast<double>(loss_));
  }
  std::fflush(stdout);
}

void progress::finish() {
  std::lock_guard guard{mutex_};
  draw(true);
  std::printf("%lld steps in %.1f s\n", static_cast<long long>(count_), seconds());
}

void progress::print_losses() {
  std::lock_guard guard{mutex_};
  std::printf("the loss fell from %.3f to %.3f\n", first_.value(), last_.value());
}

} // namespace examples
