#include "troupe/actors/execution/duration_classifier.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::duration_classifier_test {

using namespace std::chrono_literals;

TEST_CASE("a run that was preempted once is not classified as long") {
  duration_classifier classifier;
  classifier.took(3us);
  classifier.took(50ms);
  CHECK(!classifier.often_long());
  for (int i = 0; i < 16; ++i)
    classifier.took(3us);
  classifier.took(50ms);
  CHECK(!classifier.often_long());
}

TEST_CASE("a node whose first run takes long is classified as long at once") {
  duration_classifier classifier;
  classifier.took(1ms);
  CHECK(classifier.often_long());
  classifier.took(3us);
  CHECK(!classifier.often_long());
}

TEST_CASE("a node that takes long repeatedly is classified as long, until it is brief again") {
  duration_classifier classifier;
  for (int i = 0; i < 1000; ++i)
    classifier.took(1ms);
  CHECK(classifier.often_long());
  classifier.took(3us);
  CHECK(classifier.often_long());
  for (int i = 0; i < 64; ++i)
    classifier.took(3us);
  CHECK(!classifier.often_long());
}

} // namespace troupe::test::duration_classifier_test
