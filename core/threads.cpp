#include "threads.hpp"

#include <new>

#include "portable.hpp"

#ifdef SPINNEY_POSIX
#include <pthread.h>
#else
#include <system_error>
#endif

namespace spinney {
namespace {

struct Idle {
    std::mutex lock;
    std::vector<Helper*> helpers;
};

Idle* idle = nullptr;

// A forked process has one thread: those that slept are not there any more, and it begins anew. Windows has no fork.
Idle& sleepers() {
    static const bool watched = [] {
        idle = new Idle;                                 // never deleted: threads may sleep in it to the very end
#ifdef SPINNEY_POSIX
        pthread_atfork([] { idle->lock.lock(); }, [] { idle->lock.unlock(); }, [] { idle = new Idle; });
#endif
        return true;
    }();
    (void)watched;
    return *idle;
}

void* work_for_ever(void* own) {
    auto* helper = static_cast<Helper*>(own);
    for (;;) {
        await(helper->busy, [](int busy) { return busy != 0; });
        helper->work();
        helper->busy = 0;
        helper->busy.notify_one();
    }
}

// With a small stack: a helper goes no deeper than some parents, and hundreds of them must not use up the address space.
// The standard's threads cannot ask for one; on Windows they have 1 MB, which is mapped as it is used.
bool started(Helper* helper) {
#ifdef SPINNEY_POSIX
    constexpr std::size_t stack = std::size_t{2} << 20;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, stack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const bool there = pthread_create(&thread, &attributes, work_for_ever, helper) == 0;
    pthread_attr_destroy(&attributes);
    return there;
#else
    try {
        std::thread(work_for_ever, helper).detach();
    } catch (const std::system_error&) {
        return false;
    }
    return true;
#endif
}

}  // namespace

Helper* acquire_helper(std::function<void()> work) {
    Idle& all = sleepers();
    Helper* helper = nullptr;
    {
        std::lock_guard guard(all.lock);
        if (!all.helpers.empty()) helper = all.helpers.back(), all.helpers.pop_back();
    }
    const bool fresh = !helper;
    if (fresh && !(helper = new (std::nothrow) Helper)) return nullptr;
    helper->work = std::move(work);
    helper->busy = 1;
    if (!fresh) {
        helper->busy.notify_one();
        return helper;
    }
    if (!started(helper)) {                              // no more threads to be had: those that there are will do
        delete helper;
        return nullptr;
    }
    return helper;
}

void release_helper(Helper* helper) {
    await(helper->busy, [](int busy) { return busy == 0; });
    helper->work = nullptr;
    Idle& all = sleepers();
    std::lock_guard guard(all.lock);
    all.helpers.push_back(helper);
}

}  // namespace spinney
