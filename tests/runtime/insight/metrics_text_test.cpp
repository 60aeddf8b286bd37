#include "troupe/runtime/insight/metrics_text.hpp"

#include "tests/support/catch.hpp"

#include <cmath>

namespace troupe::test::metrics_text_test {

TEST_CASE("metrics are written in Prometheus' text format") {
  metrics_text to;
  to.family("steps_total", metrics_text::type::counter, "Steps");
  to.sample(3, {{"outcome", "ok"}});
  to.sample(1e10, {{"outcome", "internal"}, {"more", ""}});
  to.family("none", metrics_text::type::gauge, "Has no sample");
  to.family("took", metrics_text::type::histogram, "Time");
  to.sample("_bucket", 1, {{"le", "0.5"}});
  to.sample("_sum", 0.25);
  to.single("level", metrics_text::type::gauge, "A level", INFINITY);
  CHECK(to.take() == "# HELP steps_total Steps\n"
                     "# TYPE steps_total counter\n"
                     "steps_total{outcome=\"ok\"} 3\n"
                     "steps_total{outcome=\"internal\",more=\"\"} 1e+10\n"
                     "# HELP took Time\n"
                     "# TYPE took histogram\n"
                     "took_bucket{le=\"0.5\"} 1\n"
                     "took_sum 0.25\n"
                     "# HELP level A level\n"
                     "# TYPE level gauge\n"
                     "level +Inf\n");
}

TEST_CASE("values of labels may be any text") {
  metrics_text to;
  to.family("x", metrics_text::type::gauge, "X");
  to.sample(1, {{"name", "a\"b\\c\nd"}});
  CHECK(to.take().ends_with("x{name=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

} // namespace troupe::test::metrics_text_test
