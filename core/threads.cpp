#include "threads.hpp"

#include <pthread.h>

#include <exception>
#include <thread>

namespace spinney {
namespace {

struct Idle {
    std::mutex lock;
    std::vector<Helper*> helpers;
};

Idle* idle = nullptr;

// A forked process has one thread: those that slept are not there any more, and it begins anew.
Idle& sleepers() {
    static const bool watched = [] {
        idle = new Idle;                                 // never deleted: threads may sleep in it to the very end
        pthread_atfork([] { idle->lock.lock(); }, [] { idle->lock.unlock(); }, [] { idle = new Idle; });
        return true;
    }();
    (void)watched;
    return *idle;
}

}  // namespace

Helper* lent(std::function<void()> work) {
    Idle& all = sleepers();
    Helper* helper = nullptr;
    {
        std::lock_guard guard(all.lock);
        if (!all.helpers.empty()) helper = all.helpers.back(), all.helpers.pop_back();
    }
    const bool fresh = !helper;
    if (fresh) helper = new Helper;
    helper->work = std::move(work);
    helper->busy = 1;
    if (!fresh) {
        helper->busy.notify_one();
        return helper;
    }
    try {
        std::thread([helper] {
            for (;;) {
                await(helper->busy, [](int busy) { return busy != 0; });
                helper->work();
                helper->busy = 0;
                helper->busy.notify_one();
            }
        }).detach();
    } catch (const std::exception&) {                    // no more threads to be had: those that there are will do
        delete helper;
        return nullptr;
    }
    return helper;
}

void given_back(Helper* helper) {
    await(helper->busy, [](int busy) { return busy == 0; });
    helper->work = nullptr;
    Idle& all = sleepers();
    std::lock_guard guard(all.lock);
    all.helpers.push_back(helper);
}

}  // namespace spinney
