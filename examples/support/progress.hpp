// Shows the progress of a training run.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>

namespace examples {

/// On a terminal, draws a bar that is updated in place; elsewhere, prints a few lines. Thread-safe.
class progress {
public:
  explicit progress(int64_t total);

  void step_done(float loss);
  /// For steps that are counted elsewhere, including those of earlier runs.
  void step_done(int64_t step, float loss);
  /// Ends the bar, and prints the duration.
  void finish();
  /// Prints the mean loss over the first and over the last tenth of the steps.
  void print_losses();

private:
  struct mean {
    double sum = 0;
    int64_t count = 0;
    void add(float loss);
    double value() const;
  };

  void record(float loss);
  void draw(bool last);
  double seconds() const;

  const int64_t total_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_{};
  std::mutex mutex_;
  int64_t done_ = 0, count_ = 0; // steps in total, and of this run
  float loss_ = 0;               // smoothed
  mean first_, last_;            // over the first and the last tenth
};

} // namespace examples
