"""What the customers of Wobbly Lantern write about: all hand-written; tools/support_bot_data.py puts it
together.

A topic is what an order must look like, and three sets of sentences, of which a question takes one each: what
happened, what else is to be said, what is asked. {item} is the name of the item that it is about, {city} the customer's town,
{elsewhere} another one, {other} the number of a second order.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    id: str
    items: str  # names of orders.ITEMS; "any": all but oil and the named kite
    state: str  # received, packed, on its way, delivered, closed
    days: tuple  # low and high: since the order, packing, delivery or the end of a return, as the state says
    happened: tuple
    details: tuple
    asks: tuple


GREETINGS = ((12, "Good morning."), (18, "Good afternoon."), (24, "Good evening."))  # before this hour

OPENINGS = (
    "Hello!", "Hi there!", "Hello, I hope you can help me.", "Hi Wick!", "Dear team!", "Hello again.", "A quick question.",
    "Hi, me once more.", "Hello from {city}!", "Hi, it is about my order.", "Hello, I have a problem.",
)

ASIDES = (
    "I am writing this on my phone, so please excuse my typing.", "I could not find anything about it on your help page.",
    "I have read the mails that you sent, but they do not say.", "A friend told me to ask here before I do anything.",
    "I do not want to do anything wrong, so I ask first.", "It is not the end of the world, but it bothers me.",
    "I have been on your page for half an hour now.", "Perhaps it is quite simple and I just do not see it.",
)

CLOSINGS = (
    "Thank you!", "Thanks in advance.", "I would be glad of a quick answer.", "Many thanks and kind regards.",
    "Thank you for your help.", "I am online for another hour.", "No hurry, but I would like to know.", "Cheers!",
    "Please answer today, if you can.", "I hope that this is all you need to know.", "Kind regards from {city}.",
    "I like your shop, by the way.",
)

TOPICS = (
    Topic("where-is-it", "any", "on its way", (1, 3), (
        "I am waiting for my {item}, and the tracking page has shown the same line since the parcel was packed.",
        "The link that you sent me says that my parcel was packed, and after that it says nothing at all.",
        "My {item} does not seem to move: the tracking page looks the same every time I open it.",
    ), (
        "Last time it took three days from order to door, so I am a little surprised.",
        "The carrier's hotline only told me that I should ask the shop.",
    ), (
        "Can you see where it is, and when may I expect it?",
        "Is that normal, or has something gone wrong on the way?",
    )),
    Topic("lost-parcel", "any", "on its way", (12, 16), (
        "It is now more than a week since anything happened with my parcel.",
        "I believe that my {item} is lost, because the last scan is from the week before last.",
        "My order was packed ages ago and has been lying in the same sorting centre ever since.",
    ), (
        "The neighbours do not have it, and the counter in {city} has no card with my name.",
        "It was meant for a weekend by the lake, and that weekend is over.",
    ), (
        "Will you send it again, or do I get my money back?",
        "I would rather have the money than wait another week. Is that possible?",
    )),
    Topic("change-address", "any", "received", (0, 0), (
        "I have just noticed that I gave you my old address.",
        "I ordered this morning, and in the confirmation I see that the house number is wrong.",
        "We move on Saturday, which I forgot completely when I placed the order.",
    ), (
        "The right address is 7 Lantern Lane in {elsewhere}; the name on the bell stays the same.",
        "It should go to 12 Cooper's Yard in {elsewhere}, second door on the left.",
    ), (
        "Can you still change it before the parcel leaves?",
        "Is it enough that I tell you here, or do I have to order again?",
    )),
    Topic("change-address-late", "any", "packed", (0, 0), (
        "I got the mail that my order is packed, and only now I see that it goes to my office.",
        "Please stop the parcel: it is addressed to the flat that I left in spring.",
        "My order is packed, but nobody will be at that address for the next two weeks.",
    ), (
        "I can be reached at my sister's place in {elsewhere} in the meantime.",
        "There is no porter, and nobody else has a key.",
    ), (
        "Can the address be changed now, or what would you do in my place?",
        "What happens to the parcel and to my money if nobody takes it?",
    )),
    Topic("cancel", "any", "received", (0, 0), (
        "I would like to cancel my order, because my partner bought the same {item} yesterday.",
        "Please cancel everything; I clicked on the button too early.",
        "I have changed my mind about the {item} and do not need it any more.",
    ), (
        "The money has already left my account, as far as I can see.",
        "The page with my orders shows no button for that, or I cannot find it.",
    ), (
        "Is it still possible, and does it cost me anything?",
        "How long will it take until I have the money back?",
    )),
    Topic("cancel-late", "any", "on its way", (1, 2), (
        "I want to cancel my order, although I know that it has been sent.",
        "It turns out that I do not need the {item} after all, and the parcel is already on its way.",
        "Can I still call the parcel back? I ordered the {item} for a trip that was called off.",
    ), (
        "I have not opened anything, of course, since nothing has come yet.",
        "If I have to, I will simply not open the door to the carrier.",
    ), (
        "What do I get back if I refuse the parcel at the door?",
        "Is refusing it cheaper for me than sending it back later?",
    )),
    Topic("add-item", "lantern lamp kettle tent hammock kite", "received", (0, 0), (
        "I forgot something: to the {item} I would like to add one Fogbell alarm clock.",
        "Could you put a second {item} into my order? My neighbour wants one as well.",
        "Is it possible to add two litres of lamp oil to the order that I have just placed?",
    ), (
        "It would be a pity to pay for delivery twice.",
        "I would pay for the rest the same way as before.",
    ), (
        "Can you do that for me, and do I pay for delivery again?",
        "How do I pay for it, and does the order go out later then?",
    )),
    Topic("join-orders", "any", "received", (0, 0), (
        "I placed two orders today, because I remembered the {item} only after I had paid for the first one.",
        "By mistake I have two orders with you now instead of one.",
        "My husband and I both ordered from you this morning, to the same address, without telling each other.",
    ), (
        "The other one is order {other}, and it has not been packed either.",
        "The number of the other order is {other}; it is also in the state received.",
    ), (
        "Can both go into one parcel, and do I get one delivery back?",
        "Could you join them, please, and tell me what I get back?",
    )),
    Topic("stove-express", "stove", "received", (0, 0), (
        "I chose the slow delivery for the {item}, but we leave earlier than planned.",
        "We need the {item} by Saturday, and I would gladly pay for express.",
        "Is there any way to get the {item} faster than it says in the confirmation?",
    ), (
        "A friend says that his tent from you came the next day.",
        "My cousin works in Port Nettle, near your shop, if that helps.",
    ), (
        "Can you switch it to express, and what would it cost?",
        "What is the fastest way to have it in my hands?",
    )),
    Topic("island", "any", "received", (0, 0), (
        "I only saw after ordering that the parcel has to go by ferry to reach us.",
        "My order goes to Gull Island this time, where we spend the summer.",
        "Do you deliver to the islands? I gave you our address on Little Skerry.",
    ), (
        "The ferry sails on Tuesdays and Fridays, and it takes parcels.",
        "Last year a parcel of another shop came back because nobody had told them.",
    ), (
        "What does that cost, and how long will it take?",
        "Can it be sent express, or at least with a fixed day?",
    )),
    Topic("nobody-home", "any", "on its way", (3, 5), (
        "I found a card from the carrier in the door today, although I was at home all morning.",
        "The carrier was here while I was at work and has left a card that I cannot read.",
        "There was nobody at home when the parcel came, and I am away from tomorrow on for a week.",
    ), (
        "The card has a number on it, but the website does not know it.",
        "My neighbour would take it, if he may.",
    ), (
        "Will they come again, and how long does the parcel wait for me?",
        "Where can I get it, and what happens if I am too late?",
    )),
    Topic("pick-up", "any", "received", (0, 0), (
        "I would rather fetch the order in your shop than have it sent.",
        "We pass through Port Nettle next week and could take the {item} with us.",
        "Can I change from delivery to pick-up? I work around the corner from your shop.",
    ), (
        "My brother might come in my place; he has the order number.",
        "I cannot say yet which day it will be.",
    ), (
        "How long do you keep it, and do I get the delivery back?",
        "Is that free, and what happens if I do not make it in time?",
    )),
    Topic("return-unused", "any", "delivered", (4, 20), (
        "The {item} is very nice, but it is bigger than I thought, and I want to send it back.",
        "I was given the same {item} for my birthday, so I do not need this one.",
        "I would like to return the {item}: I do not like it as much as I had hoped.",
    ), (
        "It is still in its box, and I only looked at it.",
        "Nothing has been used, even the tape on the inner box is whole.",
    ), (
        "How do I get a label, and what does it cost?",
        "How much do I get back, and until when do I have to decide?",
    )),
    Topic("return-tried", "lamp kettle hammock tent kite clock", "delivered", (6, 22), (
        "I tried the {item} once in the garden, and it is not for me.",
        "We used the {item} a single time and found that it does not suit us.",
        "After one evening with the {item} I would like to give it back.",
    ), (
        "It is clean and has no marks, and the box is complete.",
        "You cannot see that it was used, but I want to be honest.",
    ), (
        "Do you take it back, and how much of the price do I get?",
        "Is that still a return for you, or is it mine for good now?",
    )),
    Topic("return-late", "any", "delivered", (34, 45), (
        "I want to send the {item} back, but I was in hospital and missed the date.",
        "The {item} has been standing in its box since it came, and now I see that there is a time limit.",
        "Can I still return the {item}? It was a present, and the person does not want it.",
    ), (
        "It has never been opened, let alone used.",
        "I am only a few days late, if I count correctly.",
    ), (
        "Is there anything you can do for me?",
        "Would you make an exception, or is there another way?",
    )),
    Topic("return-oil", "oil", "delivered", (3, 15), (
        "I bought too much of the {item} and would like to return a bottle.",
        "The {item} smells stronger than I expected, and I want to send it back.",
        "I ordered the {item} and have no lantern that it fits, as I see now.",
    ), (
        "One bottle is open, the other one is still sealed.",
        "I opened the bottle to smell it, but I have not used a drop.",
    ), (
        "Do you take it back, and who pays for the label?",
        "What can I do with it, if it cannot be returned?",
    )),
    Topic("exchange-colour", "lantern", "delivered", (2, 14), (
        "The {item} is lovely, but in daylight the colour is not what I had in mind.",
        "I ordered the {item} in the wrong colour; I wanted the black one.",
        "My wife says that the {item} in this colour does not go with the boat, and she is right.",
    ), (
        "It has not been lit and has no oil in it.",
        "The box is here, and the paper around the glass, too.",
    ), (
        "Can I exchange it for another colour, and what does that cost?",
        "Do I have to pay for delivery a second time?",
    )),
    Topic("refund-waiting", "any", "closed", (6, 9), (
        "I sent the {item} back last week, and there is still no money on my account.",
        "According to the carrier my return has been with you for days, but I have heard nothing.",
        "When do I get my refund? You confirmed that the {item} has arrived.",
    ), (
        "I paid by card, if that makes a difference.",
        "I have kept the receipt of the counter, with date and weight.",
    ), (
        "How long does it usually take, and can you see it on your side?",
        "Has it been paid already, and if so, which way?",
    )),
    Topic("refund-delivery", "any", "closed", (3, 8), (
        "I returned the whole order, and you paid back the items but not the delivery.",
        "My refund is smaller than what I paid in the first place.",
        "There is a difference between what I paid and what came back after the return.",
    ), (
        "Everything was unused, and I sent it off within a week.",
        "I thought that I would get all of it back when nothing is kept.",
    ), (
        "Can you explain the difference to me?",
        "Is that right, and which part do I not get back?",
    )),
    Topic("price-drop", "any", "delivered", (1, 3), (
        "I see that the {item} costs five dollars less since this morning.",
        "Two days after my order the {item} has become cheaper, which annoys me a bit.",
        "The {item} that I have just bought is now on your front page at a lower price.",
    ), (
        "I have made a picture of the page with the new price.",
        "If I had waited for three days, I would have paid less.",
    ), (
        "Do I get the difference back, and in which form?",
        "Should I send it back and order again, or is there an easier way?",
    )),
    Topic("broken-glass", "lantern", "delivered", (0, 3), (
        "My parcel has come, and the glass of the {item} is broken.",
        "When I unpacked the {item}, there was a crack from the top of the glass to the bottom.",
        "I heard it rattle before I opened the box: the glass of the {item} is in pieces.",
    ), (
        "The box has a dent on one side; the rest looks fine.",
        "I have taken two pictures, one of the lantern and one of the box.",
    ), (
        "Can I get just a new glass, or do I have to send everything back?",
        "What do you need from me, and how fast can it be replaced?",
    )),
    Topic("missing-item", "any", "delivered", (0, 4), (
        "I unpacked everything twice, and one thing that I paid for is not there.",
        "The parcel has come, but without the {item}.",
        "There is a hole in my order: the {item} stands on the slip and is not in the box.",
    ), (
        "The box was taped properly, so I do not think that anybody has opened it.",
        "The slip says one of two, if that means anything.",
    ), (
        "Is there a second parcel, or was it forgotten?",
        "When will it come, and do I have to pay again for delivery?",
    )),
    Topic("wrong-item", "any", "delivered", (0, 4), (
        "Instead of the {item} there was something else in my parcel.",
        "I think that you mixed up two orders: this is not the {item} that I paid for.",
        "The slip says {item}, but what is in the box is a kettle lid and a bag of tent pegs.",
    ), (
        "There is also a slip with the name of somebody from Saltby in it.",
        "I have packed it up again and left it untouched.",
    ), (
        "How do I get the right one, and what do I do with this?",
        "Do I have to send it back before you send mine?",
    )),
    Topic("kettle-whistle", "kettle", "delivered", (5, 60), (
        "My {item} boils, and steam comes out, but the whistle starts minutes later.",
        "Something is wrong with the whistle of my {item}.",
        "The {item} is beautiful, yet it keeps silent until half of the water is gone.",
    ), (
        "I have cleaned the lid and dried it, as the leaflet says.",
        "My old one whistled the moment that the water moved.",
    ), (
        "Is it broken, and do I get a new lid?",
        "Is that how it should be, or can it be adjusted?",
    )),
    Topic("kettle-induction", "kettle", "received", (0, 0), (
        "I have ordered the {item} and ask myself whether it works in my new kitchen.",
        "My daughter tells me that not every kettle works on every hob.",
        "We get an induction hob next month, and the {item} should stand on it.",
    ), (
        "On the product page I found the size, but nothing about that.",
        "We also have a gas ring outside, which we use in summer.",
    ), (
        "Which kinds of fire and stove is it made for?",
        "Should I keep the order or cancel it?",
    )),
    Topic("spare-part", "kettle lantern kite", "delivered", (200, 500), (
        "A part of my {item} has worn out, and I would like to buy only that part.",
        "My {item} has served us well, but one piece of it has to be replaced by now.",
        "I let my {item} fall last week, and one part of it did not survive.",
    ), (
        "The rest is as good as new, so it would be a shame to throw it away.",
        "I still have the confirmation of the order.",
    ), (
        "Which parts do you have for it, and what do they cost?",
        "Is it covered by the warranty, or do I have to pay?",
    )),
    Topic("lamp-battery", "lamp", "delivered", (380, 600), (
        "The {item} used to shine the whole weekend, and now it is dark after an hour.",
        "The battery of my {item} does not hold its charge any more.",
        "My {item} charges for hours and still goes out in the middle of dinner.",
    ), (
        "I always use the cable that came with it.",
        "It has never been wet and never fell, as far as I know.",
    ), (
        "Is that a case for the warranty after all this time?",
        "Can I change the battery myself, and where do I get one?",
    )),
    Topic("lamp-rain", "lamp", "delivered", (2, 25), (
        "I left the {item} on the garden table, and in the night it rained.",
        "We would like to hang the {item} over the pond for a party.",
        "Is the {item} waterproof? My son wants to take it into the bath.",
    ), (
        "At the moment it shines as before, but I am careful with such things.",
        "On the box there is a small drop with a line under it.",
    ), (
        "How much water can it stand?",
        "Is it safe to go on using it and to charge it?",
    )),
    Topic("other-oil", "lantern", "delivered", (3, 40), (
        "I have run out of your oil and still have a can of paraffin in the shed.",
        "The shop in our village sells an oil for garden torches that costs half as much.",
        "Can I fill the {item} with the oil that I use in my other lamps?",
    ), (
        "It smells the same, and it is as clear as yours.",
        "We are out in the hills until Sunday, so I cannot wait for a parcel.",
    ), (
        "Does it really have to be your oil, and why?",
        "What could happen, and does the warranty end if I do it?",
    )),
    Topic("smoke-indoors", "lantern", "delivered", (1, 30), (
        "The {item} is standing on our kitchen table and it smokes.",
        "We lit the {item} in the living room tonight, and there is a black spot on the ceiling.",
        "My children have a headache since we used the {item} in the bedroom.",
    ), (
        "The flame is high and yellow, and turning the wick down does not help.",
        "The window is closed because of the storm.",
    ), (
        "What are we doing wrong, and can I have my money back?",
        "How do I get it to burn without smoke?",
    )),
    Topic("stove-tent", "stove", "delivered", (1, 20), (
        "It was so cold last night that we cooked with the {item} inside the tent.",
        "Can I use the {item} in the porch of my tent if I leave the door open?",
        "We want to heat our little garden house with the {item} in autumn.",
    ), (
        "There is a vent in the roof that nobody ever closes.",
        "My uncle says that he has done it for years with another stove.",
    ), (
        "Is that safe, or do you advise against it?",
        "Which distance do I have to keep from cloth and wood?",
    )),
    Topic("tent-leak", "tent", "delivered", (20, 300), (
        "On our first rainy night water dripped through a seam of the {item}.",
        "The {item} is wet inside after every rain, always at the same corner.",
        "There is a spot on the roof of the {item} where the coating comes off.",
    ), (
        "It was pitched as in the picture, with all pegs and lines.",
        "We have had it out five or six times, never in a storm.",
    ), (
        "Is that covered, and what do you need from me?",
        "Can it be mended, or do I get a new one?",
    )),
    Topic("tent-pole", "tent", "delivered", (900, 1500), (
        "A pole of my {item} broke last weekend, right at the joint.",
        "The wind has bent one of the poles of the {item}, and now it has split.",
        "One section of a pole of the {item} has a crack along its side.",
    ), (
        "I know that it is not new any more, but it was used with care.",
        "I can send you a picture of the break.",
    ), (
        "Is there still a warranty on the poles?",
        "Can I get that single section, and what does it cost?",
    )),
    Topic("hammock-limits", "hammock", "received", (0, 0), (
        "Before it goes out I would like to know whether two adults can lie in the {item}.",
        "My trees stand four metres apart, and I wonder whether the {item} fits between them.",
        "I ordered the {item} and am not sure what I need to hang it up.",
    ), (
        "Together with the dog we are about 150 kilograms.",
        "The bark is soft, and I do not want to hurt the trees.",
    ), (
        "How much does it carry, and do I need the straps?",
        "Can you add what is missing to my order?",
    )),
    Topic("kite-line", "kite", "delivered", (3, 60), (
        "The line of the {item} broke on its second day, and we ran half a mile after it.",
        "The {item} will not stay up, whatever we do.",
        "My daughter is seven and got the {item} for her birthday, and it pulls her over.",
    ), (
        "The wind was strong, I would guess forty kilometres an hour.",
        "We were on the beach, with nothing in the way.",
    ), (
        "Is a new line covered by the warranty?",
        "For which wind and which age is it made?",
    )),
    Topic("kite-name", "named kite", "received", (0, 0), (
        "I spelt the name on the {item} wrong when I ordered it.",
        "I would like to cancel the {item}, since the party has been put off.",
        "Can the {item} be here by Friday? It is a present.",
    ), (
        "It should say Juniper, with a J.",
        "I only placed the order this morning.",
    ), (
        "Is it too late to change anything?",
        "How long does making it take, and can I still get out of it?",
    )),
    Topic("clock-late", "clock", "delivered", (10, 90), (
        "My {item} is one and a half minutes slow every day.",
        "The {item} rings, but it stops before I am awake.",
        "The {item} was ten minutes slow this morning, and I missed the bus.",
    ), (
        "I wind it up each evening at the same time.",
        "It stands on a shelf, away from the heating.",
    ), (
        "Is that within what is allowed?",
        "Do I get another one, or can it be set?",
    )),
    Topic("voucher-forgotten", "any", "received", (0, 0), (
        "I forgot to enter my code, and now I have paid the full price.",
        "The field for the voucher did not take my code, so I ordered without it.",
        "This is my first order, and I read about a welcome code only afterwards.",
    ), (
        "The code is from your newsletter and is not even a month old.",
        "It is only a few dollars, but still.",
    ), (
        "Can you put it in now and pay me back the rest?",
        "Would it help to cancel the order and to place it again?",
    )),
    Topic("points", "any", "delivered", (5, 25), (
        "I cannot see any Ember points for my last order.",
        "How many points do I get for the {item}, and when?",
        "My points have become fewer, although I have bought nothing.",
    ), (
        "On the page with my account it says zero for this month.",
        "I had saved them for a present at the end of the year.",
    ), (
        "Can you explain to me how it works?",
        "What is a point worth, and how long do I have them?",
    )),
    Topic("invoice", "any", "delivered", (3, 25), (
        "I need an invoice with the name of our company for the {item}.",
        "Our book-keeping does not accept the confirmation that you sent.",
        "Could you make out the invoice to the sailing club and not to me?",
    ), (
        "The company is Thimble & Daughters in {city}.",
        "The money came from my own card, I hope that does not matter.",
    ), (
        "Can I still get one, and how?",
        "Until when is that possible, and do you send it by mail?",
    )),
    Topic("bank-transfer", "any", "received", (2, 3), (
        "I sent the money on the day of the order, and it still says received.",
        "I chose bank transfer, and my bank could only do it this morning.",
        "My bank needs two days for a transfer, and I would like the {item} before that.",
    ), (
        "I have written the order number into the transfer.",
        "I could send you a picture of the receipt.",
    ), (
        "When will it be packed?",
        "How long do you keep the order for me if I pay later?",
    )),
    Topic("password", "any", "delivered", (5, 200), (
        "I cannot get into my account any more, it says that the password is wrong.",
        "Please set my password to something new, I have tried everything.",
        "I have a new mail address, and the old one is gone, so I cannot log in.",
    ), (
        "I need it because I want to look up my orders of last year.",
        "The mail with the link does not arrive, not even in the folder for junk.",
    ), (
        "Can you do it for me here?",
        "What can I do, and can you tell me whether my data is safe?",
    )),
    Topic("privacy", "any", "delivered", (5, 200), (
        "I would like you to delete everything that you have stored about me.",
        "My ex-husband has ordered from you, and I want to know what and where to.",
        "You keep writing to me, although I never asked for it.",
    ), (
        "I have not got an order number, only the name.",
        "I was a customer for years and have nothing against you.",
    ), (
        "Can you do that right now?",
        "Whom do I have to write to, and what do you keep anyway?",
    )),
    Topic("angry", "any", "delivered", (2, 12), (
        "This is the third time that I write about the same {item}, and nothing has happened.",
        "I am really angry now: one tells me this and the next one tells me that.",
        "I have had enough of machines and want to speak to somebody who can decide.",
    ), (
        "Two of your colleagues promised to call back, and none of them did.",
        "I have bought from you for years, and it was never like this.",
    ), (
        "Give me a person, please, and tell me when.",
        "Otherwise I will send everything back and write about it.",
    )),
    Topic("gift-time", "any", "delivered", (8, 25), (
        "I bought the {item} as a present, and it will be given away only in six weeks.",
        "The {item} is for my godchild, whose birthday is at the end of next month.",
        "We are saving the {item} for a wedding, and until then nobody may open it.",
    ), (
        "I do not know whether it will be liked.",
        "There could well be two of them on that table.",
    ), (
        "Until when could it be returned or exchanged?",
        "Is there a longer time for presents, or could you note it somewhere?",
    )),
)
