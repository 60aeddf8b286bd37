// Shows how far training has come.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>

namespace examples {

/// On a terminal a bar that is drawn over again, elsewhere a line now and then. Any thread may
/// call.
class progress {
public:
  explicit progress(int64_t total);

  void step_done(float loss);
  /// The same where steps are counted elsewhere, with those of runs before.
  void step_done(int64_t step, float loss);
  /// Ends the bar; says how long it took.
  void finish();
  /// Says how the loss fell: its mean over the first and over the last tenth of the steps.
  void tell_losses();

private:
  struct mean {
    double sum = 0;
    int64_t count = 0;
    void add(float one);
    double value() const;
  };

  void note(float loss);
  void draw(bool last);
  double seconds() const;

  const int64_t total_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_{};
  std::mutex mutex_;
  int64_t done_ = 0, count_ = 0; // in all, and by this run
  float loss_ = 0;               // smoothed
  mean first_, last_;            // tenths
};

} // namespace examples
