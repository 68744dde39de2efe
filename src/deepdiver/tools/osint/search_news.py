"""Feed `search_news`: articles from GDELT, and entries of the user's own news feeds."""

from __future__ import annotations

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType
from deepdiver.tools.osint.news.arguments import NewsArguments
from deepdiver.tools.osint.news.gdelt import gdelt_news
from deepdiver.tools.osint.news.news_feeds import entries_of_feed
from deepdiver.tools.osint.services import ask_services


class SearchNews:
    """Searches the news."""

    name = "search_news"
    about = "news of the world by keywords, with numbers by day and for the days before"
    kind = IntelligenceType.NEWS
    arguments: type[Arguments] = NewsArguments

    def missing(self, settings: Settings) -> str | None:
        """Return None: nothing is needed."""
        return None

    async def ask(self, args: NewsArguments, gateway: Gateway) -> FeedResult:
        """Ask GDELT and read every news feed of the user, at once."""
        urls = dict.fromkeys(gateway.settings.news_feeds)
        feeds = {f"the news feed {url}": entries_of_feed(args, url, gateway) for url in urls}
        return await ask_services({"GDELT": gdelt_news(args, gateway), **feeds})


FEED = SearchNews()
